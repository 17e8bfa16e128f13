/**
 * Events a second of reward-dispatch: 64 workers with 16 slots each, 1,000 responses waiting; as one is scored another
 * is asked for. Beside it, bare emits of eventemitter3 in the same run; and the cost of an event with 1,000 and with
 * 100,000 waiting. Run: `npx tsx bench/reward-dispatch.ts`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { emitsPerSecond } from './emits.ts';
import { eventsPerSecond } from './reward-load.ts';
import { machine, median } from './support.ts';

console.log(machine());
emitsPerSecond(1e6);
const repeat = <T>(run: () => T): T[] => Array.from({ length: 5 }, run);
const [trusted, validated, emits] = [
  median(repeat(eventsPerSecond(false, 1000, 200_000))),
  median(repeat(eventsPerSecond(true, 1000, 200_000))),
  median(repeat(() => emitsPerSecond(5e6))),
];
const thousands = (value: number) => (Math.round(value / 1000) * 1000).toLocaleString('en');
console.log(
  `trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`,
);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
// Each size has a process of its own, so that none collects the garbage of another.
const sizes = [1000, 100_000];
const measures = sizes.map((): number[] => []);
for (let turn = 0; turn < 5; turn += 1) {
  for (const [at, size] of sizes.entries()) {
    const load = fileURLToPath(new URL('reward-load.ts', import.meta.url));
    measures[at]!.push(Number(execFileSync(process.execPath, [...process.execArgv, load, String(size)])));
  }
}
for (const [at, size] of sizes.entries()) {
  const nanoseconds = median(measures[at]!);
  const ratio = (nanoseconds / median(measures[0]!)).toFixed(2);
  console.log(`${String(size).padStart(7)} waiting: ${nanoseconds.toFixed(0)} ns an event, ${ratio} × that at 1,000`);
}
