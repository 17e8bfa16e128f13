/** What the engines of a cluster share. */
import type { CostModel } from '../../sim/cost-model.ts';
import type { MockEngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import type { ResponseBook } from './response-book.ts';

/** What engines share. */
export interface EngineContext {
  /** The options, their defaults filled in. */
  readonly options: MockEngineOptions;
  /** What a decode step and a prefill take. */
  readonly cost: CostModel;
  /** Says how long each response is. */
  readonly book: ResponseBook;
  /** What will happen by itself, and when. */
  readonly agenda: Agenda;
  /** The moment of the simulation. */
  readonly now: () => number;
}
