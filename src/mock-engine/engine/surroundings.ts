/** What the engines of a cluster share. */
import type { CostModel } from '../../sim/cost-model.ts';
import type { MockEngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import type { ResponseBook } from './response-book.ts';

/** What engines share. */
export interface Surroundings {
  readonly options: MockEngineOptions;
  readonly cost: CostModel;
  readonly book: ResponseBook;
  readonly agenda: Agenda;
  /** The moment of the simulation. */
  readonly now: () => number;
}
