/** What benchmarks of rates print: events a second against bare emits of eventemitter3, and how an event's cost grows. */
import { execFileSync } from 'node:child_process';
import { median } from '../support.ts';
import { emitsPerSecond } from './emits.ts';

/** A rate, to the thousand. */
export const thousands = (value: number): string => (Math.round(value / 1000) * 1000).toLocaleString('en');

/** The median of five runs. */
export const medianOf = (run: () => number): number => median(Array.from({ length: 5 }, run));

/** Events a second, trusted and validated, and what part of bare emits they are in the same process. */
export function printRates(trusted: () => number, validated: () => number): void {
  emitsPerSecond(1e6);
  const [fast, checked, emits] = [medianOf(trusted), medianOf(validated), medianOf(() => emitsPerSecond(5e6))];
  const beside = `of bare eventemitter3 emits (${thousands(emits)}/s)`;
  console.log(`trusted    ${thousands(fast)} events/s, 1/${(emits / fast).toFixed(1)} ${beside}`);
  console.log(`validated  ${thousands(checked)} events/s, 1/${(emits / checked).toFixed(1)}`);
}

/**
 * The cost of an event with each load, against the first. Each load has processes of its own, so that none collects the
 * garbage of another.
 *
 * @param script - prints the nanoseconds of an event with the load that is its argument
 * @param loads - what each is called, behind the argument
 */
export function printGrowth(script: string, loads: readonly (readonly [load: number, name: string])[]): void {
  const measures = loads.map((): number[] => []);
  for (let turn = 0; turn < 5; turn += 1) {
    for (const [at, [load]] of loads.entries()) {
      measures[at]!.push(Number(execFileSync(process.execPath, [...process.execArgv, script, String(load)])));
    }
  }
  const [first] = measures.map(median);
  for (const [at, [, name]] of loads.entries()) {
    const nanoseconds = median(measures[at]!);
    const ratio = (nanoseconds / first!).toFixed(2);
    console.log(`${name}: ${nanoseconds.toFixed(0)} ns an event, ${ratio} × that with ${loads[0]![1].trim()}`);
  }
}
