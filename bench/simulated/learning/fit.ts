/**
 * Shows how well the simulator's model of learning follows real GRPO, against the rewards of example 12: two parameters are fitted to
 * the synchronous runs; each run is also predicted from the fit to the others, and so are the runs of other schedules.
 * `npx tsx bench/simulated/learning/fit.ts [file]`, with a file that `main.py --results` of example 12 has written.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Learning, type LearningSettings } from '../../../src/sim/rewards/learning.ts';

/** A run, by evaluation and kind of prompt. */
interface Run {
  readonly schedule: string;
  readonly rewards: readonly (readonly number[])[];
  /** Sums of the deviations of the rewards of the groups that were trained on since the beginning. */
  readonly spread: readonly (readonly number[])[];
}

type Fit = Pick<LearningSettings, 'rate' | 'transfer'>;

/** Kinds of prompts: they ask for so many words. The model takes them for its domains. */
const kinds = ['3', '8', '24'];
const groupsPerStep = 8;

/** Returns the runs of a file of example 12, or those that are kept here. */
export function runsOf(path?: string): Run[] {
  if (path === undefined) {
    const kept = readFileSync(new URL('example-12.jsonl', import.meta.url), 'utf8');
    return kept
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
  type Point = Readonly<Record<'rewards' | 'spread', Readonly<Record<string, number>>>>;
  const given: Readonly<Record<string, Point[][]>> = JSON.parse(readFileSync(path, 'utf8'));
  return Object.entries(given).flatMap(([schedule, of]) =>
    of.map((points) => {
      const all = (key: keyof Point) => points.map((point) => kinds.map((kind) => point[key][kind]!));
      return { schedule, rewards: all('rewards'), spread: all('spread') };
    }),
  );
}

/** Returns the root of the mean squared error of the rewards that the model predicts from those at the beginning. */
export function errorOf(runs: readonly Run[], fit: Fit): number {
  let squares = 0;
  let count = 0;
  for (const { rewards, spread } of runs) {
    const learning = new Learning({ ...fit, guessedShare: 0 }, groupsPerStep, 0);
    rewards.forEach((row, n) => {
      for (const [kind, task] of kinds.entries()) learning.gain(task, spread[n]![kind]! - (spread[n - 1]?.[kind] ?? 0));
      row.forEach((reward, kind) => {
        const predicted = learning.passRate({ promptIndex: 0, task: kinds[kind] }, rewards[0]![kind]!);
        squares += (predicted - reward) ** 2;
        count += 1;
      });
    });
  }
  return Math.sqrt(squares / count);
}

/** Returns the parameters with the least error, on a grid of steps of 1 % of the rate and of 0.01 of the transfer. */
export function fitted(runs: readonly Run[]): Fit {
  const search = (rates: readonly number[], transfers: readonly number[]): Fit => {
    let best = { rate: 0, transfer: 0, error: Infinity };
    for (const rate of rates) {
      for (const transfer of transfers) {
        const error = errorOf(runs, { rate, transfer });
        if (error < best.error) best = { rate, transfer, error };
      }
    }
    return { rate: best.rate, transfer: best.transfer };
  };
  const steps = (count: number, value: (n: number) => number): number[] =>
    Array.from({ length: count }, (_, n) => value(n));
  const rough = search(
    steps(25, (n) => 0.02 * 1.25 ** n),
    steps(11, (n) => n / 10),
  );
  return search(
    steps(51, (n) => rough.rate * (1 + (n - 25) / 100)),
    steps(21, (n) => rough.transfer + (n - 10) / 100).filter((one) => one >= 0 && one <= 1),
  );
}

function main(path?: string): void {
  const runs = runsOf(path);
  const base = runs.filter(({ schedule }) => schedule === 'synchronous');
  const fit = fitted(base);
  console.log(`rate ${fit.rate.toFixed(3)}, transfer ${fit.transfer.toFixed(2)}`);
  const still = errorOf(base, { rate: 0, transfer: 0 });
  console.log(
    `error of the ${base.length} runs ${errorOf(base, fit).toFixed(3)}; if nothing were learnt ${still.toFixed(3)}`,
  );
  base.forEach((run, n) => {
    const other = fitted(base.filter((one) => one !== run));
    const found = `rate ${other.rate.toFixed(3)}, transfer ${other.transfer.toFixed(2)}`;
    console.log(`  run ${n}, from the others (${found}): ${errorOf([run], other).toFixed(3)}`);
  });
  for (const schedule of new Set(runs.map((one) => one.schedule))) {
    const of = runs.filter((one) => one.schedule === schedule);
    if (schedule !== 'synchronous') console.log(`error of ${schedule}: ${errorOf(of, fit).toFixed(3)}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv[2]);
