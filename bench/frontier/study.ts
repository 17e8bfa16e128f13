/** How far `auto` is from the best fixed width of a case: the same rounds for every width, sessions that begin blind. */
import type { FrontierGroupDispatchInput } from '../../src/policies/frontier-group-dispatch/index.ts';
import { mean } from '../support.ts';
import { type RoundResult, type RoundWork, runRounds } from './loop.ts';
import type { Case } from './work.ts';

/** How much is run. */
export interface StudySize {
  readonly groups: number;
  readonly seeds: number;
  readonly rounds: number;
}

/** Fixed widths of a case, those that were soon far behind left out. */
export interface FixedWidths {
  /** Mean seconds of a round by width, and of the first round alone. */
  readonly means: ReadonlyMap<number, { readonly session: number; readonly first: number }>;
  readonly best: number;
}

/** Seeds after which widths that are far behind are left out, and how far that is. */
const trialSeeds = 4;
const farBehind = 1.06;

/** Every width up to 16, then steps of about a tenth, and R. */
export function widthsUpTo(groups: number): number[] {
  const widths: number[] = [];
  for (let width = 1; width < groups; width += Math.max(1, Math.floor((width - 6) / 10))) widths.push(width);
  return [...widths, groups];
}

/** The rounds of every seed. */
export function sessionsOf(one: Case, { groups, seeds, rounds }: StudySize): RoundWork[][] {
  return Array.from({ length: seeds }, (_, seed) =>
    Array.from({ length: rounds }, (__, round) => one.round(groups, seed + 1, round)),
  );
}

/** Every fixed width on the same sessions. */
export function fixedWidths({ setting }: Case, sessions: readonly RoundWork[][], groups: number): FixedWidths {
  const seconds = new Map<number, number[][]>(widthsUpTo(groups).map((width) => [width, []]));
  const meanOf = (one: readonly number[][]): number => mean(one.flat());
  for (const [seed, rounds] of sessions.entries()) {
    for (const [width, all] of seconds) all.push(runRounds(setting, width, rounds).map((one) => one.seconds));
    if (seed + 1 !== trialSeeds) continue;
    const best = Math.min(...[...seconds.values()].map(meanOf));
    for (const [width, all] of seconds) if (meanOf(all) > best * farBehind) seconds.delete(width);
  }
  const means = new Map(
    [...seconds].map(([width, all]) => [width, { session: meanOf(all), first: mean(all.map((one) => one[0]!)) }]),
  );
  const best = [...means].reduce((one, other) => (other[1].session < one[1].session ? other : one))[0];
  return { means, best };
}

/** `auto` on the same sessions. */
export function autoWidths(
  { setting }: Case,
  sessions: readonly RoundWork[][],
  more: Partial<FrontierGroupDispatchInput> = {},
): RoundResult[][] {
  return sessions.map((rounds) => runRounds(setting, 'auto', rounds, more));
}
