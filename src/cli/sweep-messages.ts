/** What the threads of a sweep say to each other. */
import type { SweepRun, SweepTask } from '../sim/sweep/run.ts';
import type { SweepInput } from './sweep-problem.ts';

/** What a worker begins with. */
export interface WorkerStart {
  readonly input: SweepInput;
}

/** A run that is wanted: of a problem, by its place. */
export interface WorkerTask {
  readonly id: number;
  readonly place: number;
  readonly task: SweepTask;
}

/** What came of it. An error is cloned as the thread can: a `PolicyError` by its parts. */
export type WorkerAnswer =
  | { readonly id: number; readonly run: SweepRun }
  | { readonly id: number; readonly refused: { code: string; expected: string; got: string; path: string } }
  | { readonly id: number; readonly failed: string };
