/** A sweep whose runs are made by the caller: in this thread, in many threads, or in a browser that must not block. */
import { refuse } from '../../errors.ts';
import { Book } from './book.ts';
import { type SweepEffort, sweepEfforts } from './effort.ts';
import { conclude } from './recommendation/conclude.ts';
import { measuringFrontier } from './recommendation/frontier.ts';
import type { SweepAdvice, SweepLimits, SweepOptions } from './result.ts';
import { promptsOf, type SweepProblem, type SweepRun, stepsOf, sweepEvaluator } from './run.ts';
import { type SweepBatch, searching } from './search.ts';
import { sweepSpace } from './space.ts';
import { confirmationSpread } from './split.ts';

/**
 * Searches the best settings of a job: eta_P, eta_R, and either the threshold of scaling down and TP, or F_w.
 *
 * The generator yields batches of tasks, and the caller passes back one result per task, in order; `sweepEvaluator` makes the
 * results. The same problem, options and results give the same recommendation.
 *
 * @throws PolicyError `invalid_input` for bad options; `infeasible` if the job cannot run
 */
export function* sweeping(
  problem: SweepProblem,
  options: SweepOptions = {},
): Generator<SweepBatch, SweepAdvice, readonly SweepRun[]> {
  const { seed, effort, limits, epochs } = validated(problem, options);
  const space = sweepSpace(problem, limits.maxLag);
  const book = new Book(space);
  const spread = confirmationSpread(problem.workload(seed), promptsOf(problem), stepsOf(problem, 'confirmation'));
  const search = { seed, effort, limits, spread, hasOracle: problem.kind === 'synchronous' };
  const result = yield* searching(space, book, search);
  const advice = conclude(problem, book, result, search);
  if (problem.kind === 'pools' || epochs === 1) return advice;
  return { ...advice, frontier: yield* measuringFrontier(problem, advice, epochs) };
}

/**
 * Runs a sweep in this thread. `progress` is called before every batch.
 *
 * @throws PolicyError the errors of {@link sweeping}, and those of the simulator if the baseline cannot run
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

interface ValidOptions {
  readonly seed: number;
  readonly effort: SweepEffort;
  readonly limits: SweepLimits;
  readonly epochs: number;
}

function validated(
  { kind, steps }: SweepProblem,
  { seed = 1, effort = 'default', epochs = 1, ...given }: SweepOptions,
): ValidOptions {
  if (!Number.isSafeInteger(steps) || steps < 1) refuse('invalid_input', 'steps', 'a whole number >= 1', steps);
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  if (!Number.isSafeInteger(epochs) || epochs < 1 || epochs > 1000)
    refuse('invalid_input', 'epochs', 'a whole number from 1 to 1000', epochs);
  if (kind === 'pools' && epochs > 1) refuse('invalid_input', 'epochs', 'a synchronous job', epochs);
  const { minKept, minTop1, maxLag } = given;
  if (minKept !== undefined && !(minKept > 0 && minKept <= 1)) {
    refuse('invalid_input', 'minKept', 'a number above 0 and at most 1', minKept);
  }
  if (minTop1 !== undefined && !(minTop1 >= 0 && minTop1 <= 1))
    refuse('invalid_input', 'minTop1', 'a number from 0 to 1', minTop1);
  if (maxLag !== undefined && !(Number.isSafeInteger(maxLag) && maxLag >= 0)) {
    refuse('invalid_input', 'maxLag', 'a whole number >= 0', maxLag);
  }
  const numbers = typeof effort === 'string' ? sweepEfforts[effort] : effort;
  if (numbers === undefined)
    refuse('invalid_input', 'effort', `one of ${Object.keys(sweepEfforts).join(', ')}`, effort);
  for (const [name, value] of Object.entries(numbers as SweepEffort)) {
    // The confirmation needs two seeds: a single run shows nothing about the differences between runs.
    const least = name === 'fineRounds' ? 0 : name === 'confirmationSeeds' ? 2 : 1;
    if (!Number.isSafeInteger(value) || value < least)
      refuse('invalid_input', `effort.${name}`, `a whole number >= ${least}`, value);
  }
  const { coarseSeeds, semifinalSeeds, finalSeeds } = numbers;
  if (coarseSeeds > semifinalSeeds || semifinalSeeds > finalSeeds) {
    refuse('invalid_input', 'effort', 'no fewer seeds from one part to the next', numbers);
  }
  return { seed, effort: numbers, limits: { minKept, minTop1, maxLag }, epochs };
}
