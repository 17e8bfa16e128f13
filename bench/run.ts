/**
 * Every benchmark, one after the other: `npm run bench`. Those of policies are held to the rates that every policy is
 * to reach, and to those that the policy's documents state; a machine that does something else meanwhile fails them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchmarks, documentsOf } from './list.ts';
import { floors, measuredRates, type Rate, reached, statedRates } from './rates/stated.ts';

for (const [name, policy] of Object.entries(benchmarks)) {
  console.log(`\n== ${name}`);
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const stdio = ['inherit', 'pipe', 'inherit'] as const;
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', script], {
    stdio: [...stdio],
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  if (status !== 0) process.exitCode = 1;
  const measured = measuredRates(stdout);
  if (policy === null || measured.length === 0) continue;
  hold(
    'every policy is to reach',
    (Object.keys(floors) as Rate['kind'][]).map((kind) => ({ kind, perSecond: floors[kind] })),
    measured,
  );
  for (const file of documentsOf(policy)) {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    if (existsSync(path)) hold(`${file} states`, statedRates(readFileSync(path, 'utf8')), measured);
  }
}

/** Says which of the rates were not reached. */
function hold(who: string, rates: readonly Rate[], measured: readonly Rate[]): void {
  const good = reached(rates, measured);
  for (const rate of rates) {
    if (good.includes(rate)) continue;
    console.log(`NOT REACHED: ${who} ${rate.perSecond.toLocaleString('en')} events/s ${rate.kind}`);
    process.exitCode = 1;
  }
}
