/** Options and progress of a comparison. */
import type { Job } from './colocated/job.ts';
import type { Scheduler } from './colocated/scheduler.ts';
import type { RunResult } from './result.ts';
import type { Workload } from './workload/workload.ts';

/** Default steps and seeds of a comparison: the same in every command. */
export const usualRuns = Object.freeze({ steps: 20, seeds: 3 });

/** Options of a comparison. */
export interface CompareOptions {
  /** Engines, batch shape and cost model. */
  readonly job: Job;
  /** The workload of a seed. Every scheduler gets the same one. */
  readonly workload: (seed: number) => Workload;
  /** Steps of the baseline: steps · P0 prompts are trained. A whole number >= 1; best a multiple of 5 at eta 1.25. */
  readonly steps: number;
  /** One run of each scheduler for each seed; intervals need 2 or more. */
  readonly seeds: readonly number[];
  /** The scheduler that the others are compared with; absent: the baseline of {@link usualSchedulers}. */
  readonly baseline?: Scheduler;
  /** Schedulers beside the baseline; absent: tail batching of {@link usualSchedulers}. */
  readonly schedulers?: readonly Scheduler[];
  /** Confidence of the intervals: above 0, below 1 (default 0.95). */
  readonly confidence?: number;
  /** Whether the oracle schedule runs, too: one more run a seed (default true). */
  readonly oracle?: boolean;
  /** Whether the runs of the first seed keep the segments of every engine (default true). */
  readonly timeline?: boolean;
  /** Whether policies check events against their schemas (default false). */
  readonly validate?: boolean;
  /**
   * Called for every run, to return the result of `simulate`: for hosts that keep runs from one comparison to the next, such as
   * those of a baseline that a changed setting does not affect.
   */
  readonly run?: (scheduler: Scheduler, seed: number, simulate: () => RunResult) => RunResult;
}

/** Progress of a comparison. */
export interface CompareProgress {
  /** Runs that are done. */
  readonly doneRuns: number;
  /** Runs that there will be: schedulers × seeds, and one of the oracle for each seed. */
  readonly totalRuns: number;
  /** Id of the scheduler of the run that is just done. */
  readonly scheduler: string;
  /** Seed of the last run. */
  readonly seed: number;
}
