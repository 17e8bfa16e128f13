/** The context that the engines of a cluster share. */
import type { CostModel } from '../../sim/cost-model.ts';
import type { MockEngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import type { ResponseBook } from './response-book.ts';

/** The context that the engines of a cluster share. */
export interface EngineContext {
  /** The options, their defaults filled in. */
  readonly options: MockEngineOptions;
  /** Durations of decode steps and prefills. */
  readonly cost: CostModel;
  /** Decides how long each response is. */
  readonly book: ResponseBook;
  /** Events that happen by themselves, by simulated time. */
  readonly agenda: Agenda;
  /** The moment of the simulation. */
  readonly now: () => number;
}
