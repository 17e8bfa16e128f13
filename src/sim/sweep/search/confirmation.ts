/** The confirmation: the winners of a search against the papers' settings, on new seeds and prompts, which the search has not seen. */
import type { Book, Candidate } from '../book.ts';
import type { Spread } from '../interval.ts';
import { confirmationWithin, responsesOfRound, type SearchPlan } from '../plan.ts';
import type { SweepProblem, SweepRun } from '../run.ts';
import type { SweepSettings } from '../settings/settings.ts';
import { isSpeculating, withoutSpeculation } from '../space.ts';
import type { SweepBatch } from './batch.ts';
import type { Measuring } from './measuring.ts';
import type { Rules } from './rules.ts';

/** Number of confirmation seeds on which the oracle runs; the oracle's share has no interval. */
const oracleSeeds = 3;
/** The same where a budget cuts the search. */
const cutOracleSeeds = 2;

/** What a confirmation needs. */
export interface ConfirmationOptions {
  readonly measuring: Measuring;
  readonly problem: SweepProblem;
  readonly book: Book;
  readonly rules: Rules;
  readonly plan: SearchPlan;
  readonly published: Candidate;
  readonly unspeculative: Candidate;
  /** The papers' settings, or the same without speculation if the papers' are not within the limits. */
  readonly reference: Candidate;
  readonly seeds: readonly number[];
  /** Returns the spread of an independent run, compared with confirmations of so many steps. */
  readonly spreadOf: (steps: number) => Spread;
}

/** The result of a confirmation. */
export interface Confirmed {
  /** The best candidate; `reference` if nothing is better. */
  readonly chosen: Candidate;
  readonly reference: Candidate;
  /** `chosen` without tail batching; the same as `chosen` if that has none. */
  readonly plain: Candidate;
  readonly confirmationSeeds: readonly number[];
  /** Steps of a run. */
  readonly confirmationSteps: number;
  /** Spread of an independent run, compared with these runs. */
  readonly spread: Spread;
}

/** Confirms candidates in long runs, all of them on all seeds. */
export function* confirming(
  options: ConfirmationOptions,
  candidates: readonly Candidate[],
): Generator<SweepBatch, Confirmed, readonly SweepRun[]> {
  const { plan, seeds, spreadOf } = options;
  const steps = plan.confirmationSteps;
  return yield* concluded(options, candidates, {
    seeds,
    plainSeeds: seeds,
    oracleCount: oracleSeeds,
    spread: spreadOf(steps),
  });
}

/**
 * Confirms candidates within what is left of a budget: all of them on the first half of the seeds, and the likeliest on the others.
 */
export function* confirmingWithin(
  options: ConfirmationOptions,
  candidates: readonly Candidate[],
): Generator<SweepBatch, Confirmed, readonly SweepRun[]> {
  const { measuring, problem, book, rules, plan, published, unspeculative, reference, spreadOf } = options;
  const always = [...new Set([book.baseline, published, reference])];
  const stepsOf = (one: Candidate): number => responsesOfRound(problem, one.settings);
  const sum = (list: readonly Candidate[]): number => list.reduce((all, one) => all + stepsOf(one), 0);
  const oracleRuns = problem.kind === 'synchronous' ? cutOracleSeeds : 0;
  const ofStep = (count: number): number => {
    const half = Math.ceil(count / 2);
    const most = Math.max(0, ...candidates.map(stepsOf));
    const raced = half * (sum(candidates) + stepsOf(unspeculative)) + (count - half) * most;
    return count * sum(always) + raced + oracleRuns * stepsOf(book.baseline);
  };
  const { seeds: count, steps } = confirmationWithin(plan, plan.budget - measuring.responses, ofStep);
  const seeds = options.seeds.slice(0, count);
  const half = seeds.slice(0, Math.ceil(count / 2));
  yield* measuring.measure({
    phase: 'confirmation',
    candidates,
    seeds: half,
    always: [...always, ...candidates],
    later: 4 * count,
    steps,
  });
  const feasible = candidates.filter((one) => one.infeasible === undefined);
  const likeliest = rules.likeliest(feasible, reference, half);
  return yield* concluded(options, likeliest === undefined ? [] : [likeliest], {
    seeds,
    plainSeeds: half,
    oracleCount: cutOracleSeeds,
    spread: spreadOf(steps),
    steps,
  });
}

interface Sizes {
  readonly seeds: readonly number[];
  readonly plainSeeds: readonly number[];
  readonly oracleCount: number;
  readonly spread: Spread;
  /** Steps of a run, if a budget cuts them. */
  readonly steps?: number;
}

function* concluded(
  { measuring, problem, book, rules, plan, published, unspeculative, reference: first }: ConfirmationOptions,
  candidates: readonly Candidate[],
  { seeds, plainSeeds, oracleCount, spread, steps }: Sizes,
): Generator<SweepBatch, Confirmed, readonly SweepRun[]> {
  const phase = 'confirmation';
  const always = [book.baseline, published];
  const list = [first, ...candidates];
  yield* measuring.measure({ phase, candidates: list, seeds, always, later: 2 * seeds.length, steps });
  let reference = first;
  if (!rules.isWithin(reference, seeds, 'confirmation')) {
    reference = unspeculative;
    yield* measuring.measure({ phase, candidates: [reference], seeds, always, later: seeds.length, steps });
  }
  const others = candidates.filter((one) => one !== reference && one.infeasible === undefined);
  const chosen = rules.surest(others, reference, seeds, spread);
  // Both kinds of runs are in one batch, so that threads can share them.
  const byOracle = book.missing(
    problem.kind === 'synchronous' ? [book.oracle] : [],
    seeds.slice(0, oracleCount),
    phase,
    steps,
  );
  const unspeculated = book.candidate(withoutSpeculation(chosen.settings as SweepSettings));
  yield* measuring.measure({
    phase,
    candidates: [chosen, unspeculated],
    seeds: plainSeeds,
    always,
    later: 0,
    steps,
    more: byOracle,
  });
  const plain = isSpeculating(chosen.settings as SweepSettings) ? unspeculated : chosen;
  const confirmationSteps = steps ?? plan.confirmationSteps;
  return { chosen, reference, plain, confirmationSeeds: seeds, confirmationSteps, spread };
}
