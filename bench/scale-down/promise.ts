/**
 * Shows how far the projected peak of gpu-scale-down is from the real one, for each family of `families.ts`: rounds in which an engine
 * goes over it, projected to real peak, and what is accepted of what an oracle accepts that knows all lengths.
 * `npx tsx bench/scale-down/promise.ts [rounds] [first seed] [sources]`, by default 300 and 1,000,000 (the seeds from 1 on have chosen
 * the constants), and the sources of this checkout.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from '../support.ts';
import { families, randomFrom } from './families.ts';
import { type Measured, type Outcome, outcomeOf } from './round.ts';

/** How well a projection keeps what invariant 7 promises. */
export interface Kept {
  /** Share of rounds in which an engine goes over the projection. */
  readonly over: number;
  /** Median of projected to real peak. */
  readonly ratio: number;
  /** Share of the scale-downs that an oracle accepts, from half to twice the capacity that is needed. */
  readonly accepted: number;
}

export function keptOf(outcomes: readonly Outcome[]): Kept {
  const random = randomFrom(5);
  let [oracle, both] = [0, 0];
  for (const { projected, real } of outcomes) {
    for (let at = 0; at < 20; at += 1) {
      const capacity = real * 2 ** (2 * random() - 1);
      if (real > capacity) continue;
      oracle += 1;
      if (projected <= capacity) both += 1;
    }
  }
  return {
    over: outcomes.filter(({ real, projected }) => real > projected).length / outcomes.length,
    ratio: median(outcomes.map(({ real, projected }) => projected / real)),
    accepted: both / oracle,
  };
}

/** What the policy of these sources keeps, by family. */
export async function measure(sources: string, rounds: number, first: number): Promise<Map<string, Kept>> {
  const measured: Measured = await import(pathToFileURL(resolve(sources, 'index.ts')).href);
  return new Map(
    families.map(({ name, world }) => {
      const outcomes = Array.from({ length: rounds }, (_, at) => outcomeOf(measured, world(first + at), first + at));
      return [name, keptOf(outcomes)];
    }),
  );
}

const [rounds = '300', first = '1000000', sources = 'src'] = process.argv.slice(2);

if (process.argv[1]?.endsWith('promise.ts')) {
  console.log('| Rounds | Over the projection | Projected to real peak | Accepted |');
  console.log('| --- | --- | --- | --- |');
  for (const [name, { over, ratio, accepted }] of await measure(sources, Number(rounds), Number(first))) {
    console.log(`| ${name} | ${(100 * over).toFixed(1)} % | ${ratio.toFixed(2)} | ${(100 * accepted).toFixed(0)} % |`);
  }
}
