/** Properties of hosts that a tape of choices steers: so many steps with trouble, then to the end. */
import fc from 'fast-check';
import { test } from 'vitest';
import { tapes } from '../../../src/testing/index.ts';
import { runs } from './runs.ts';

/** A host that takes one step after the other, and can end. */
interface Host {
  step(): void;
  finish(): void;
}

/** Takes so many steps and ends; gives the host. */
export function play<H extends Host>(host: H, steps: number): H {
  for (let step = 0; step < steps; step += 1) host.step();
  host.finish();
  return host;
}

/** One test for each configuration, named in the title by `%s`: what holds with every tape. */
export function testEach<C extends object>(
  title: string,
  configs: readonly C[],
  count: number,
  check: (config: C, tape: readonly number[]) => void,
): void {
  test.each(configs.map((config) => [JSON.stringify(config), config] as const))(title, (_name, config) => {
    const property = fc.property(tapes(), (tape) => {
      check(config, tape);
    });
    fc.assert(property, runs(count));
  });
}

/** Adds what happened in a run to what happened in all. */
export function addTally(all: Map<string, number>, run: ReadonlyMap<string, number>): void {
  for (const [name, times] of run) all.set(name, (all.get(name) ?? 0) + times);
}
