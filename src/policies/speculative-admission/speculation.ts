/**
 * `speculation: 'auto'`: a grid search over the first rounds, as RollPacker §6.3 advises, then fixed.
 *
 * The cost of a factor is the time of its short rounds, plus the share of long rounds caused by deferred prompts: mean short
 * seconds + mean deferred prompts ÷ P0 · mean long seconds.
 */
import { z } from 'zod';
import { count } from '../../schemas/units.ts';

/** Factors that are tried. */
export const grid: readonly number[] = [1.1, 1.2, 1.3, 1.4];
/** Number of short rounds to measure per factor. */
export const roundsPerFactor = 3;

const perFactor = z.array(count);

export const exploration = z.strictObject({
  rounds: perFactor,
  seconds: z.array(z.number()),
  deferred: perFactor,
  longRounds: count,
  longSeconds: z.number(),
  /** The factor that was chosen, or 0 while exploring. */
  chosen: z.number().max(Math.max(...grid)),
});
export type Exploration = z.output<typeof exploration>;

export function newExploration(): Exploration {
  const zeros = () => grid.map(() => 0);
  return { rounds: zeros(), seconds: zeros(), deferred: zeros(), longRounds: 0, longSeconds: 0, chosen: 0 };
}

/** Returns the factor for the next short round: the one tried least often, or the chosen one. */
export function currentFactor(exploration: Exploration): number {
  if (exploration.chosen > 0) return exploration.chosen;
  return grid[exploration.rounds.indexOf(Math.min(...exploration.rounds))]!;
}

/** Returns the seconds that a short round with the factor costs, its share of long rounds included. */
export function factorCost(exploration: Exploration, index: number, promptsPerRound: number): number {
  const rounds = exploration.rounds[index]!;
  const longSeconds = exploration.longRounds === 0 ? 0 : exploration.longSeconds / exploration.longRounds;
  return (exploration.seconds[index]! + (exploration.deferred[index]! / promptsPerRound) * longSeconds) / rounds;
}

/**
 * Adds a measured round. Chooses once every factor has been measured often enough and, if any prompt was deferred, a long round has
 * been measured too; ties go to the smaller factor.
 *
 * @returns the cost of the chosen factor, in seconds, if this call has chosen it
 */
export function measure(
  exploration: Exploration,
  round: { kind: 'short' | 'long'; factor: number; seconds: number; deferred: number; promptsPerRound: number },
): number | undefined {
  if (exploration.chosen > 0) return undefined;
  if (round.kind === 'long') {
    exploration.longRounds += 1;
    exploration.longSeconds += round.seconds;
  } else {
    const index = grid.indexOf(round.factor);
    exploration.rounds[index] = exploration.rounds[index]! + 1;
    exploration.seconds[index] = exploration.seconds[index]! + round.seconds;
    exploration.deferred[index] = exploration.deferred[index]! + round.deferred;
  }
  if (Math.min(...exploration.rounds) < roundsPerFactor) return undefined;
  if (exploration.longRounds === 0 && exploration.deferred.some((deferred) => deferred > 0)) return undefined;
  const costs = grid.map((_, index) => factorCost(exploration, index, round.promptsPerRound));
  const best = Math.min(...costs);
  exploration.chosen = grid[costs.indexOf(best)]!;
  return best;
}
