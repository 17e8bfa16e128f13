/** What a search asks of its caller: batches of runs, with what it has found so far. */
import type { Interval } from '../../comparison/result.ts';
import type { SweepTask } from '../run.ts';

/** A part of a search. */
export type SweepPhase = 'coarse' | 'cross' | 'fine' | 'finals' | 'confirmation' | 'frontier' | 'machines';

/** The next runs of a search; the caller answers with one result per run, in this order. */
export interface SweepBatch {
  /** The part of the search. */
  readonly phase: SweepPhase;
  /** The runs, in the order in which the search expects their results. */
  readonly tasks: readonly SweepTask[];
  /** Number of runs before this batch. */
  readonly doneRuns: number;
  /** Estimated number of all runs, including later ones. */
  readonly plannedRuns: number;
  /** Simulated responses before this batch, of this batch, and of all runs, about. */
  readonly responses: { readonly done: number; readonly next: number; readonly planned: number };
  /** The best settings so far; absent before the first runs. */
  readonly found?: FoundSettings;
}

/** The best settings of a search that goes on. */
export interface FoundSettings {
  /** Short text of the settings, for readers. */
  readonly label: string;
  /** Share of the baseline's time per trained prompt that they save, so far. */
  readonly gain: Interval;
  /** Number of runs of it. */
  readonly seeds: number;
}
