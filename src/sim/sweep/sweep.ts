/** A sweep whose runs are made by the caller: in this thread, in many threads, or in a browser that must not block. */
import { refuse } from '../../errors.ts';
import { Book } from './book.ts';
import { type SweepEffort, sweepEfforts } from './effort.ts';
import type { Spread } from './interval.ts';
import { gainOverMachines, machineTasks, machineWork } from './machines.ts';
import { planOf, thoroughResponses, usualBudget } from './plan.ts';
import { conclude, stepSecondsOf } from './recommendation/conclude.ts';
import { machineSentence } from './recommendation/explanation.ts';
import { measuringFrontier } from './recommendation/frontier.ts';
import type { SweepAdvice, SweepLimits, SweepOptions } from './result.ts';
import { promptsOf, type SweepProblem, type SweepRun, sweepEvaluator } from './run.ts';
import type { SweepBatch } from './search/batch.ts';
import { searching } from './search/search.ts';
import type { SynchronousSettings } from './settings/settings.ts';
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
  if (problem.kind === 'pools') return yield* sweepingAlone(problem, options);
  const { seed, budget } = validated(problem, options);
  const work = machineWork(problem, machinesShare * budget);
  const search = sweepingAlone(problem, options);
  const sofar = { runs: 0, responses: 0, found: {} as Pick<SweepBatch, 'found'> };
  let next = search.next();
  while (next.done !== true) {
    const { plannedRuns, responses, ...batch } = next.value;
    sofar.runs = batch.doneRuns + batch.tasks.length;
    sofar.responses = responses.done + responses.next;
    if (batch.found !== undefined) sofar.found = { found: batch.found };
    const planned = responses.planned + work.responses;
    next = search.next(yield { ...batch, plannedRuns: plannedRuns + work.runs, responses: { ...responses, planned } });
  }
  const advice = next.value;
  const measured = { ...advice, stepSeconds: stepSecondsOf(problem, seed, budget) };
  const { settings, gain: sampling } = advice.recommended;
  if (settings === 'baseline') return measured;
  const { runs: doneRuns, responses: done, found } = sofar;
  const runs = yield {
    phase: 'machines',
    tasks: machineTasks(problem, settings as SynchronousSettings, work),
    doneRuns,
    plannedRuns: doneRuns + work.runs,
    responses: { done, next: work.responses, planned: done + work.responses },
    ...found,
  };
  const gain = gainOverMachines(sampling, runs);
  const overMachines = { gain, measuredPoints: problem.job.machine?.points ?? 0, runs: work.runs };
  return { ...measured, overMachines, meaning: [...advice.meaning, machineSentence(overMachines)] };
}

/** Share of a budget, beside the search, for the machines that the job may turn out to run on. */
const machinesShare = 0.08;

/** The same without `stepSeconds`, for who measures the baseline anyway. Throws as {@link sweeping} does. */
export function* sweepingAlone(
  problem: SweepProblem,
  options: SweepOptions,
): Generator<SweepBatch, SweepAdvice, readonly SweepRun[]> {
  const { seed, effort, budget, limits, epochs } = validated(problem, options);
  const space = sweepSpace(problem, limits.maxLag);
  const book = new Book(space);
  const withFrontier = problem.kind === 'synchronous' && epochs > 1;
  const forFrontier = withFrontier ? frontierShare : 0;
  const ofSearch = planOf(problem, space, effort, budget * (1 - forFrontier));
  const isCut = ofSearch.budget < Number.POSITIVE_INFINITY;
  const plan = isCut ? { ...ofSearch, expected: budget } : ofSearch;
  const workload = problem.workload(seed);
  const spreadOf = (steps: number): Spread => confirmationSpread(workload, promptsOf(problem), steps);
  const result = yield* searching(problem, space, book, { seed, plan, limits, spreadOf });
  const thorough = thoroughResponses(problem, space);
  const advice = conclude(problem, book, result, { seed, plan, limits, thorough });
  if (!withFrontier) return advice;
  return { ...advice, frontier: yield* measuringFrontier(problem, advice, epochs, budget * forFrontier) };
}

/** Share of a budget for the frontier, where prompts come back. */
const frontierShare = 0.45;

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
  readonly budget: number;
  readonly limits: SweepLimits;
  readonly epochs: number;
}

function validated(
  { kind, steps }: SweepProblem,
  { seed = 1, thorough = false, epochs = 1, ...given }: SweepOptions,
): ValidOptions {
  const { effort = thorough ? 'thorough' : 'default' } = given;
  // Who says how much is tried gets that.
  const { budget = thorough || given.effort !== undefined ? Number.POSITIVE_INFINITY : usualBudget } = given;
  if (!(budget > 0)) refuse('invalid_input', 'budget', 'a number above 0', budget);
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
  return { seed, effort: numbers, budget, limits: { minKept, minTop1, maxLag }, epochs };
}
