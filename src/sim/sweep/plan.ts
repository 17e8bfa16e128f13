/**
 * The size of a search: that of its effort or, if that is more work than its budget, what fits. The budget is of work, and not of
 * time, so that the same question has the same answer on every machine.
 */
import { usualRuns } from '../comparison/compare-options.ts';
import { type SweepEffort, sweepEfforts } from './effort.ts';
import { roundsNeeded } from './measure.ts';
import { factorOf, promptsOf, type SweepProblem, type SweepTask, stepsOf } from './run.ts';
import { product } from './search/neighbours.ts';
import type { SweepSpace } from './space.ts';

/** Simulated responses, about, of a search that is not asked to be thorough. */
export const usualBudget = 1_200_000;

/** The size of a search. */
export interface SearchPlan {
  readonly effort: SweepEffort;
  /** Seeds of the first runs: those of the baseline and of the papers' settings. */
  readonly firstSeeds: number;
  /** Steps of a run of the search. */
  readonly steps: number;
  /** Most steps of a run of the confirmation. */
  readonly confirmationSteps: number;
  /** Most simulated responses of the search and the confirmation, about; Infinity if the effort is within its budget. */
  readonly budget: number;
  /** Responses that the search will simulate, about. */
  readonly expected: number;
}

/** Parts of a budget that are used up after a part of a search that is cut, 0 to 1; the confirmation takes the rest. */
export const shares = Object.freeze({ coarse: 0.28, search: 0.52 });

/** Most rounds of a search that is cut, each on a seed of its own. */
const cutRounds = 10;
/** Seeds of the first figure. */
const firstSeeds = 3;
/** Most and least steps of a run in a search that is cut: five are a cycle of short rounds and a long one at the papers' factors. */
const cutSteps = { most: 5, least: 3 } as const;
/** Rounds that a search has the budget for. */
const cutBaselineRounds = 180;
/** Seeds of the confirmation to choose from, and the steps below which fewer seeds are better. */
const cutSeeds = [8, 6, 4] as const;
const fewSteps = 10;

/** Returns the responses that a round launches, in the mean and about: a short one launches more than it keeps, a long one does not. */
export function responsesOfRound(problem: SweepProblem, settings: SweepTask['settings']): number {
  const factor = factorOf(settings);
  const launched = typeof settings === 'string' ? 1 : (factor * settings.responseSpeculation + factor - 1) / factor;
  return promptsOf(problem) * problem.job.responsesPerPrompt * launched;
}

/** Returns the responses that a run launches, about. */
export function responsesOf(problem: SweepProblem, { settings, part, steps }: Omit<SweepTask, 'seed'>): number {
  const rounds = roundsNeeded(steps ?? stepsOf(problem, part), promptsOf(problem), factorOf(settings));
  return rounds * responsesOfRound(problem, settings);
}

/** Returns the responses of a search with this effort and its confirmation, about. */
export function expectedResponses(problem: SweepProblem, { axes, published }: SweepSpace, effort: SweepEffort): number {
  const of = (settings: SweepTask['settings'], part: 'search' | 'confirmation'): number =>
    responsesOf(problem, { settings, part });
  const [one, base] = [of(published, 'search'), of('baseline', 'search')];
  const grid = product(
    published,
    axes.filter(({ crossed }) => crossed).map(({ name, coarse }) => [name, coarse] as const),
  );
  const single = axes.filter(({ crossed }) => !crossed);
  const coarse = grid.reduce((sum, each) => sum + of(each, 'search'), 0);
  const alone = single.reduce((count, axis) => count + axis.coarse.length, 0);
  const cross = 3 * 2 ** single.length;
  const { coarseSeeds, semifinalSeeds, finalSeeds, confirmationSeeds, fineRounds } = effort;
  const first = coarseSeeds * (coarse + (alone + cross + 12 * fineRounds) * one);
  const finals = (8 * (semifinalSeeds - coarseSeeds) + 4 * (finalSeeds - semifinalSeeds)) * one + finalSeeds * base;
  const confirmed = confirmationSeeds * (of('baseline', 'confirmation') + 4 * of(published, 'confirmation'));
  return first + finals + confirmed;
}

/** Returns the size of a search: the effort, or what of it fits the budget. */
export function planOf(problem: SweepProblem, space: SweepSpace, effort: SweepEffort, budget: number): SearchPlan {
  const { steps } = problem;
  const confirmationSteps = stepsOf(problem, 'confirmation');
  const expected = expectedResponses(problem, space, effort);
  if (expected <= budget) {
    const first = Math.min(firstSeeds, effort.finalSeeds);
    return { effort, firstSeeds: first, steps, confirmationSteps, budget: Number.POSITIVE_INFINITY, expected };
  }
  const cut = {
    coarseSeeds: 1,
    semifinalSeeds: 1,
    finalSeeds: cutRounds,
    confirmationSeeds: Math.min(effort.confirmationSeeds, cutSeeds[0]),
    fineRounds: cutRounds - 1,
  };
  const affordable = Math.floor(budget / (cutBaselineRounds * responsesOfRound(problem, 'baseline')));
  const short = Math.min(steps, cutSteps.most, Math.max(cutSteps.least, affordable));
  return { effort: cut, firstSeeds, steps: short, confirmationSteps, budget, expected: budget };
}

/**
 * Returns seeds and steps of a confirmation that takes what is left of a budget: runs of fewer steps before fewer runs, since
 * intervals come from the differences between runs.
 *
 * @param left - responses
 * @param responsesOfStep - returns the responses of one step of all runs with so many seeds
 */
export function confirmationWithin(
  { effort, confirmationSteps }: SearchPlan,
  left: number,
  responsesOfStep: (seeds: number) => number,
): { readonly seeds: number; readonly steps: number } {
  const few = Math.min(fewSteps, confirmationSteps);
  const counts = cutSeeds.filter((count) => count <= effort.confirmationSeeds);
  const options = (counts.length === 0 ? [effort.confirmationSeeds] : counts).map((seeds) => ({
    seeds,
    steps: Math.min(confirmationSteps, Math.floor(left / responsesOfStep(seeds))),
  }));
  const found = options.find(({ steps }) => steps >= few) ?? options.at(-1)!;
  return { seeds: found.seeds, steps: Math.max(Math.min(cutSteps.most, confirmationSteps), found.steps) };
}

/** Least steps that a budget leaves to a run of a comparison. */
const fewestSteps = 3;

/**
 * Returns the steps of the runs of a comparison: as many as usual, or what a budget leaves.
 *
 * @param budget - simulated responses, about
 * @param responsesOfStep - those of one step of all runs
 */
export const stepsWithin = (budget: number, responsesOfStep: number): number =>
  Math.min(usualRuns.steps, Math.max(fewestSteps, Math.floor(budget / responsesOfStep)));

/** Returns the responses of a thorough search, about. */
export const thoroughResponses = (problem: SweepProblem, space: SweepSpace): number =>
  expectedResponses(problem, space, sweepEfforts.thorough);
