/**
 * Shows what works, against real frameworks, which are too large or too slow for every change: `npm run test:real`.
 * Suites run in virtual environments under `.cache/real`, which are made where they are missing. A suite that cannot
 * run is skipped, and says what it needs. `npm run test:real -- slime` runs some of them. What ran is written into
 * `real-runs.json`, and from there into `docs/tested.md`.
 *
 * Exit codes: 0 done; 1 a suite failed; 2 wrong use.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastRun, recordRun } from './last-runs.ts';
import { environments, type Suite, suites } from './real/suites.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'bench', 'real-runs.json');
/** What pytest ends with where it has run no test: `python/tests/real/conftest.py`. */
const nothingRan = 5;

type Outcome = 'passed' | 'failed' | 'skipped';

/** The exit code of a command. */
function codeOf(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root): number | null {
  return spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } }).status;
}

/** The Python of an environment, with its packages; or what is missing, in words. */
function pythonOf(name: string): { python: string } | { missing: string } {
  const { python: version, packages, alone = [], program } = environments[name]!;
  const folder = join(root, '.cache', 'real', name);
  const python = join(folder, 'bin', 'python');
  // With pyenv a command such as python3.12 is there only where its version is chosen.
  const chosen = version.includes('.') ? { PYENV_VERSION: version } : {};
  if (!existsSync(python) && codeOf(`python${version}`, ['-m', 'venv', folder], chosen) !== 0)
    return { missing: `python${version} is not there, or has no venv` };
  const install = ['-m', 'pip', 'install', '--quiet'];
  if (codeOf(python, [...install, ...packages]) !== 0)
    return { missing: `${packages.join(', ')} could not be installed` };
  if (alone.length > 0 && codeOf(python, [...install, '--no-deps', ...alone]) !== 0)
    return { missing: `${alone.join(', ')} could not be installed` };
  if (program !== undefined && codeOf(python, [join(root, 'bench', 'real', program)]) !== 0)
    return { missing: `bench/real/${program} has failed` };
  return { python };
}

function outcomeOf(name: string, { environment, tests, checkout }: Suite): Outcome {
  const skipped = (why: string): Outcome => {
    console.log(`${name}: skipped, since ${why}`);
    return 'skipped';
  };
  if (checkout !== undefined && process.env[checkout] === undefined) return skipped(`${checkout} names no checkout`);
  const found = pythonOf(environment);
  if ('missing' in found) return skipped(found.missing);
  const args = ['-B', '-m', 'pytest', '-o', 'pythonpath=src tests', '-q', '-rs', ...tests];
  const code = codeOf(found.python, args, { ROLLFLEX_REAL_RUNS: file }, join(root, 'python'));
  return code === 0 ? 'passed' : code === nothingRan ? 'skipped' : 'failed';
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in suites));
if (unknown !== undefined) {
  console.error(`expected some of ${Object.keys(suites).join(', ')}, got ${unknown}`);
  process.exit(2);
}
console.log(`test:real: ${lastRun('test:real')}`);
// What the Python package carries: the command line, for servers and mock engines, and the policies inside it.
if (codeOf('npm', ['run', '--silent', 'build:python']) !== 0) process.exit(1);
const outcomes = Object.entries(suites)
  .filter(([name]) => names.length === 0 || names.includes(name))
  .map(([name, suite]) => [name, outcomeOf(name, suite)] as const);
const result = outcomes.map(([name, outcome]) => `${name} ${outcome}`).join(', ');
console.log(`test:real: ${result}`);
if (names.length === 0) recordRun('test:real', result);
const isWritten = codeOf('npm', ['run', '--silent', 'docs:generate']) === 0;
if (!isWritten || outcomes.some(([, outcome]) => outcome === 'failed')) process.exitCode = 1;
