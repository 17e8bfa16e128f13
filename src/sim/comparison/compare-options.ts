/** Options and progress of a comparison. */
import type { Job } from '../colocated/job.ts';
import type { Scheduler } from '../colocated/scheduler.ts';
import type { Workload } from '../workload/workload.ts';
import type { RunResult } from './result.ts';

/** Default steps and seeds of a comparison: the same in every command. */
export const usualRuns = Object.freeze({ steps: 20, seeds: 3 });

/** Options of a comparison. */
export interface CompareOptions {
  /** Engines, batch shape and cost model. */
  readonly job: Job;
  /** Returns the workload for a seed, which is the same for every scheduler. */
  readonly workload: (seed: number) => Workload;
  /** Steps of the baseline: it trains steps · P0 prompts. A whole number >= 1; a multiple of 5 is best at eta 1.25. */
  readonly steps: number;
  /** Seeds: each scheduler makes one run per seed. Intervals need 2 or more seeds. */
  readonly seeds: readonly number[];
  /** The scheduler to compare with; by default, the baseline of {@link usualSchedulers}. */
  readonly baseline?: Scheduler;
  /** Schedulers beside the baseline; by default, the tail batching of {@link usualSchedulers}. */
  readonly schedulers?: readonly Scheduler[];
  /** Confidence of the intervals: above 0, below 1 (default 0.95). */
  readonly confidence?: number;
  /** Whether the oracle schedule runs, too: one more run per seed (default true). */
  readonly oracle?: boolean;
  /** Whether the runs of the first seed record the segments of every engine (default true). */
  readonly timeline?: boolean;
  /** Whether policies check events against their schemas (default false). */
  readonly validate?: boolean;
  /**
   * Called for every run; must return the result of `simulate`. A host can store runs here and use them again in later comparisons:
   * for example, runs of a baseline when a changed setting does not affect the baseline.
   */
  readonly run?: (scheduler: Scheduler, seed: number, simulate: () => RunResult) => RunResult;
}

/** Progress of a comparison. */
export interface CompareProgress {
  /** Number of finished runs. */
  readonly doneRuns: number;
  /** Number of all runs: schedulers × seeds, and one oracle run per seed. */
  readonly totalRuns: number;
  /** Scheduler id of the latest finished run. */
  readonly scheduler: string;
  /** Seed of the last finished run. */
  readonly seed: number;
}
