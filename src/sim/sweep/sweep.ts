/** A sweep, for whoever makes the runs: this thread, many, or a browser that must not block. */
import { PolicyError } from '../../errors.ts';
import { Book } from './book.ts';
import { conclude } from './conclude.ts';
import { type SweepEffort, sweepEfforts } from './effort.ts';
import type { SweepAdvice, SweepOptions } from './result.ts';
import { type SweepProblem, type SweepRun, sweepEvaluator } from './run.ts';
import { type SearchOptions, type SweepBatch, searching } from './search.ts';
import { sweepSpace } from './space.ts';

/**
 * Searches the settings of a job: eta_P, eta_R, and either the threshold of scaling down and TP, or F_w.
 *
 * It yields batches of runs, and is given one result for each task, in their order; `sweepEvaluator` makes them. The same
 * problem, options and results give the same recommendation.
 *
 * @throws PolicyError `invalid_input` for bad options; `infeasible` where the job cannot run
 */
export function* sweeping(
  problem: SweepProblem,
  options: SweepOptions = {},
): Generator<SweepBatch, SweepAdvice, readonly SweepRun[]> {
  const search = checked(problem, options);
  const space = sweepSpace(problem);
  const book = new Book(space);
  const result = yield* searching(space, book, search);
  return conclude(problem, book, result, search);
}

/**
 * The same, made here. `progress` is told before every batch.
 *
 * @throws PolicyError as {@link sweeping} does, and as the simulator does where the baseline cannot run
 */
export function sweep(
  problem: SweepProblem,
  options: SweepOptions & { readonly progress?: (batch: SweepBatch) => void } = {},
): SweepAdvice {
  const { progress, ...rest } = options;
  const evaluate = sweepEvaluator(problem);
  const search = sweeping(problem, rest);
  let next = search.next();
  while (next.done !== true) {
    progress?.(next.value);
    next = search.next(next.value.tasks.map(evaluate));
  }
  return next.value;
}

function checked({ steps }: SweepProblem, { seed = 1, effort = 'default', minKept }: SweepOptions): SearchOptions {
  const refuse = (path: string, expected: string, got: unknown): never => {
    throw new PolicyError('invalid_input', { expected, got, path });
  };
  if (!Number.isSafeInteger(steps) || steps < 1) refuse('steps', 'a whole number >= 1', steps);
  if (!Number.isSafeInteger(seed)) refuse('seed', 'a whole number', seed);
  if (minKept !== undefined && !(minKept > 0 && minKept <= 1)) {
    refuse('minKept', 'a number above 0 and at most 1', minKept);
  }
  const numbers = typeof effort === 'string' ? sweepEfforts[effort] : effort;
  if (numbers === undefined) refuse('effort', `one of ${Object.keys(sweepEfforts).join(', ')}`, effort);
  for (const [name, value] of Object.entries(numbers as SweepEffort)) {
    if (!Number.isSafeInteger(value) || value < (name === 'fineRounds' ? 0 : 1)) {
      refuse(`effort.${name}`, 'a whole number >= 1', value);
    }
  }
  const { coarseSeeds, semifinalSeeds, finalSeeds } = numbers;
  if (coarseSeeds > semifinalSeeds || semifinalSeeds > finalSeeds) {
    refuse('effort', 'no fewer seeds from one part to the next', numbers);
  }
  return { seed, effort: numbers, minKept };
}
