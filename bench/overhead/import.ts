/**
 * Shows what the start of a program pays, against Node alone and against zod, which comes along: `import 'rollflex'`
 * and `rollflex --help`. Processes take turns, so that a busy machine is busy for all of them.
 * `npx tsx bench/overhead/import.ts [runs]`
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { table } from '../../scripts/tables/schema-table.ts';
import { builtCli, machine, median } from '../support.ts';

const runs = Number(process.argv[2] ?? 20);
const built = (file: string): string => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
const esm = (from: string): string[] => ['--input-type=module', '-e', `import ${JSON.stringify(from)}`];
const programs = {
  'Node alone (`node -e 0`)': ['-e', '0'],
  "`import 'zod'`": esm('zod'),
  "`import 'rollflex'`": esm(pathToFileURL(built('index.js')).href),
  "`require('rollflex')`": ['-e', `require(${JSON.stringify(built('index.cjs'))})`],
  '`rollflex --help`': [builtCli(), '--help'],
};

// Node does not say what a child took: bash does, in milliseconds, the threads of the child included.
const timed = ['-c', `TIMEFORMAT='%U %S'; time "$@" >&- 2>&-`, 'bash', process.execPath];

function measured(args: readonly string[]): { readonly wall: number; readonly cpu: number } {
  const from = performance.now();
  const { status, stderr } = spawnSync('bash', [...timed, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} exits with ${status}`);
  const cpu = stderr
    .trim()
    .split(' ')
    .reduce((sum, seconds) => sum + Number(seconds), 0);
  return { wall: performance.now() - from, cpu: cpu * 1000 };
}

const found = Object.values(programs).map((args) => ({ args, wall: [] as number[], cpu: [] as number[] }));
for (let run = 0; run <= runs; run += 1) {
  for (const { args, wall, cpu } of found) {
    const took = measured(args);
    // The first turn fills the caches of the system.
    if (run === 0) continue;
    wall.push(took.wall);
    cpu.push(took.cpu);
  }
}

const bare = found[0]!;
const shown = (own: readonly number[], of: readonly number[]): string[] => [
  `${median(own).toFixed(0)} ms`,
  (median(own) / median(of)).toFixed(1),
];
const rows = Object.keys(programs).map((name, index) => {
  const { wall, cpu } = found[index]!;
  return [name, ...shown(wall, bare.wall), ...shown(cpu, bare.cpu)];
});
console.log(table(['Program', 'Time', '× Node', 'CPU', '× Node'], rows));
console.log(`${machine(runs)}`);
