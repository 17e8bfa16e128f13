/** The context that the engines of a cluster share. */
import type { CostModel } from '../../sim/models/cost-model.ts';
import type { MockEngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import type { ResponseBook } from './prompts/response-book.ts';

/** The context that the engines of a cluster share. */
export interface EngineContext {
  /** The options with all defaults. */
  readonly options: MockEngineOptions;
  /** Durations of decode steps and prefills. */
  readonly cost: CostModel;
  /** Decides how long each response is. */
  readonly book: ResponseBook;
  /** Events that are not part of an engine's own work, by simulated time. */
  readonly agenda: Agenda;
  /** The current simulated time. */
  readonly now: () => number;
}
