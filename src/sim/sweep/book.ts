/** The measurements of a sweep, and comparisons of candidates on the seeds that both have run. */
import { sampleStandardDeviation } from 'simple-statistics';
import { given } from '../../core/collections/given.ts';
import { meanOf, ratioOf } from '../comparison/metrics.ts';
import type { Interval } from '../comparison/result.ts';
import { ofMean, oneMinus, predicted, type Spread, studentQuantile } from './interval.ts';
import type { SweepRun, SweepTask } from './run.ts';
import type { SweepSettings } from './settings/settings.ts';
import type { SweepSpace } from './space.ts';
import type { SweepPart } from './split.ts';

/** The result of a run that was possible. */
export type Measured = Exclude<SweepRun, { readonly infeasible: string }>;

/** A candidate, the baseline, or the oracle, with its runs. */
export interface Candidate {
  readonly settings: SweepTask['settings'];
  /** Results, by seed. */
  readonly runs: Map<number, Measured>;
  infeasible: string | undefined;
}

/** Runs of two candidates with the same seed, and therefore the same prompts and samples. */
export interface Pair {
  readonly one: Measured;
  readonly other: Measured;
}

/** Returns a rate of the firsts ÷ that of the others, over pairs. */
const quotient = (pairs: readonly Pair[], rate: 'tokensPerResponse' | 'secondsPerPrompt'): number =>
  ratioOf(
    pairs,
    ({ one }) => one[rate],
    ({ other }) => other[rate],
  );

/** Mean response tokens: first ÷ second of each pair. */
export const keptRatio = (pairs: readonly Pair[]): number => quotient(pairs, 'tokensPerResponse');

/** Returns the standard error of the kept ratio over the pairs, as a share of it; 0 for a single pair. */
export function keptError(pairs: readonly Pair[]): number {
  const { value, high } = predicted(
    pairs,
    [[({ one }) => one.tokensPerResponse, ({ other }) => other.tokensPerResponse]],
    ofMean,
  );
  return pairs.length < 2 ? 0 : (high / value - 1) / studentQuantile(pairs.length - 1);
}

/** Number of trained responses at least as long as the longest 1 % of the baseline's ÷ number of these, over pairs. */
export const longestRatio = (pairs: readonly Pair[]): number =>
  ratioOf(
    pairs.map(({ one }) => one),
    'longTrained',
    'longFixed',
  );

/** Returns the share of the other's time that the first saves, over pairs; negative if the first takes longer. */
export const gain = (pairs: readonly Pair[]): number => 1 - quotient(pairs, 'secondsPerPrompt');

/** Returns the same gain, with its 95 % interval for an independent run. */
export const gainInterval = (pairs: readonly Pair[], spread: Spread): Interval =>
  oneMinus(
    predicted(
      pairs,
      [[({ one }) => one.secondsPerPrompt, ({ other }) => other.secondsPerPrompt]],
      spread,
      roundVariance,
    ),
  );

/** Variance of the seconds of a pair's first ÷ the other's, relative, that comes from their rounds. */
export const roundVariance = ({ one, other }: Pair): number => one.roundVariance + other.roundVariance;

/** Returns the mean seconds per prompt that the first saves, and the standard error over the pairs. */
export function difference(pairs: readonly Pair[]): { readonly mean: number; readonly error: number } {
  const saved = pairs.map(({ one, other }) => other.secondsPerPrompt - one.secondsPerPrompt);
  const mean = meanOf(saved);
  const error = saved.length < 2 ? 0 : sampleStandardDeviation(saved) / Math.sqrt(saved.length);
  return { mean, error };
}

/** The candidates of a sweep. */
export class Book {
  readonly #space: SweepSpace;
  readonly #candidates = new Map<string, Candidate>();
  readonly baseline: Candidate = { settings: 'baseline', runs: new Map(), infeasible: undefined };
  readonly oracle: Candidate = { settings: 'oracle', runs: new Map(), infeasible: undefined };

  constructor(space: SweepSpace) {
    this.#space = space;
  }

  /** Returns the candidate with these settings, or with settings that have the same effect. */
  candidate(settings: SweepSettings): Candidate {
    const key = this.#space.keyOf(settings);
    const known = this.#candidates.get(key) ?? { settings, runs: new Map(), infeasible: undefined };
    this.#candidates.set(key, known);
    return known;
  }

  /** All candidates, in the order of trying. */
  get all(): readonly Candidate[] {
    return [...this.#candidates.values()];
  }

  /**
   * Returns the runs that are missing, seed by seed; search and confirmation have different seeds.
   *
   * @param steps - steps of a run, if they are not those of the part
   */
  missing(candidates: Iterable<Candidate>, seeds: readonly number[], part: SweepPart, steps?: number): SweepTask[] {
    const wanted = [...new Set(candidates)].filter((one) => one.infeasible === undefined);
    const more = given({ steps });
    return seeds.flatMap((seed) =>
      wanted.filter(({ runs }) => !runs.has(seed)).map(({ settings }) => ({ settings, seed, part, ...more })),
    );
  }

  /** Records the result of a task. */
  note({ settings, seed }: SweepTask, run: SweepRun): void {
    const candidate = typeof settings === 'string' ? this[settings] : this.candidate(settings);
    if ('infeasible' in run) candidate.infeasible = run.infeasible;
    else candidate.runs.set(seed, run);
  }

  /** Returns pairs of runs, for the given seeds that both candidates have run. */
  pairs(one: Candidate, other: Candidate, seeds: readonly number[]): Pair[] {
    return seeds.flatMap((seed) => {
      const [a, b] = [one.runs.get(seed), other.runs.get(seed)];
      return a === undefined || b === undefined ? [] : [{ one: a, other: b }];
    });
  }
}
