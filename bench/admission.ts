/**
 * Events a second of speculative-admission, P0 = 128, R0 = 8, eta = 1.25: distinct completions of open requests in
 * complete rounds, reasons included. Opening rounds, confirming aborts and the host's own bookkeeping are in the time,
 * and not in the count. Beside it, bare emits of eventemitter3 in the same run; and how the cost of an event grows with
 * what is in flight.
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { completionsPerSecond } from './rounds.ts';
import { emitsPerSecond, machine, median } from './support.ts';

console.log(machine());
emitsPerSecond(1e6);
const repeat = <T>(run: () => T): T[] => Array.from({ length: 5 }, run);
const [trusted, validated, emits] = [
  median(repeat(completionsPerSecond(false, 200))),
  median(repeat(completionsPerSecond(true, 200))),
  median(repeat(() => emitsPerSecond(5e6))),
];
const thousands = (value: number) => (Math.round(value / 1000) * 1000).toLocaleString('en');
console.log(
  `trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`,
);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
// ceil(eta · P0) prompts with 10 responses each: 1,000, 10,000 and 100,000 requests in flight as a round begins. Each
// size has a process of its own, so that none collects the garbage of another.
const sizes = [80, 800, 8000];
const measures = sizes.map((): number[] => []);
for (let turn = 0; turn < 5; turn += 1) {
  for (const [at, size] of sizes.entries()) {
    const growth = fileURLToPath(new URL('growth.ts', import.meta.url));
    measures[at]!.push(Number(execFileSync(process.execPath, [...process.execArgv, growth, String(size)])));
  }
}
for (const [at, size] of sizes.entries()) {
  const nanoseconds = median(measures[at]!);
  const ratio = (nanoseconds / median(measures[0]!)).toFixed(2);
  const inFlight = String(size * 1.25 * 10).padStart(7);
  console.log(`${inFlight} in flight: ${nanoseconds.toFixed(0)} ns an event, ${ratio} × that at 1,000`);
}
