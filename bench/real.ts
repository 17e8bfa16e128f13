/**
 * Shows what works, against real frameworks, which are too large or too slow for every change: `npm run test:real`.
 * Each suite makes a virtual environment of its own in `.cache/real`; one whose framework is not to be had is skipped,
 * and says what it needs.
 * `npm run test:real -- slime` runs some of them.
 *
 * Exit codes: 0 done; 1 a suite failed; 2 wrong use.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastRun, recordRun } from './last-runs.ts';

interface Suite {
  /** What pip installs. */
  readonly packages: readonly string[];
  /** What pytest is given, in `python`. */
  readonly tests: readonly string[];
  /** An environment variable that names a checkout, for what is on no registry. */
  readonly checkout?: string;
}

const suites: Readonly<Record<string, Suite>> = {
  ray: { packages: ['ray>=2.60', 'pytest'], tests: ['tests/on_ray'] },
  slime: { packages: ['pytest', 'numpy'], tests: ['tests/test_slime.py'], checkout: 'SLIME_PATH' },
};

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a command, and says whether it succeeded. */
const run = (command: string, args: readonly string[], cwd = root): boolean =>
  spawnSync(command, args, { cwd, stdio: 'inherit' }).status === 0;

/** The Python of a suite, with its packages; undefined where they cannot be installed. */
function pythonOf(name: string, packages: readonly string[]): string | undefined {
  const folder = join(root, '.cache', 'real', name);
  const python = join(folder, 'bin', 'python');
  const isThere = existsSync(python) || run('python3', ['-m', 'venv', folder]);
  return isThere && run(python, ['-m', 'pip', 'install', '--quiet', ...packages]) ? python : undefined;
}

function outcomeOf(name: string, { packages, tests, checkout }: Suite): 'passed' | 'failed' | 'skipped' {
  if (checkout !== undefined && process.env[checkout] === undefined) {
    console.log(`${name}: skipped, since ${checkout} names no checkout of it`);
    return 'skipped';
  }
  const python = pythonOf(name, packages);
  if (python === undefined) {
    console.log(`${name}: skipped, since ${packages.join(', ')} could not be installed`);
    return 'skipped';
  }
  return run(python, ['-B', '-m', 'pytest', '-q', ...tests], join(root, 'python')) ? 'passed' : 'failed';
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in suites));
if (unknown !== undefined) {
  console.error(`expected some of ${Object.keys(suites).join(', ')}, got ${unknown}`);
  process.exit(2);
}
console.log(`test:real: ${lastRun('test:real')}`);
if (!run('npm', ['run', '--silent', 'build'])) process.exit(1);
const outcomes = Object.entries(suites)
  .filter(([name]) => names.length === 0 || names.includes(name))
  .map(([name, suite]) => [name, outcomeOf(name, suite)] as const);
const result = outcomes.map(([name, outcome]) => `${name} ${outcome}`).join(', ');
console.log(`test:real: ${result}`);
if (names.length === 0) recordRun('test:real', result);
if (outcomes.some(([, outcome]) => outcome === 'failed')) process.exitCode = 1;
