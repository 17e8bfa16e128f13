/** Chooses the number of micro-batches per rank, and packs each group into at most so many. */
import { refuse } from '../../errors.ts';
import type { MicroBatchesSettings } from '../../generated/settings/micro-batches.ts';
import { leastBins } from './least.ts';
import { type Budget, firstFit, fittingSteps, searchPacking } from './pack.ts';
import type { RankGroup, Slots } from './packed-ranks.ts';

/** Limit on the steps of all searches in a plan. The limit is a count and not a time, so that every machine makes the same plan. */
const searchSteps = 20_000_000;
/** Limit on the micro-batches of all ranks, because a larger plan would not be worth its size. */
const mostMicroBatches = 1_000_000;

/** A packing of every group into at most `count` micro-batches. */
export interface Packed {
  readonly count: number;
  readonly slots: readonly Slots[];
}

type Limits = Pick<MicroBatchesSettings, 'maxTokensPerMicroBatch' | 'minMicroBatches' | 'divisibleBy'>;

/** Returns the least number >= a bound that the settings allow. */
export function allowedCount(bound: number, { minMicroBatches, divisibleBy }: Limits): number {
  return Math.ceil(Math.max(bound, minMicroBatches) / divisibleBy) * divisibleBy;
}

/** Returns the fewest micro-batches that a rank of a group needs. */
function leastOf(group: RankGroup, cap: number): number {
  const tokens = Array.from({ length: group.ranks }, (): number[] => []);
  for (const item of group.items) {
    for (let rank = item.first; rank < item.first + item.width; rank += 1) tokens[rank]!.push(item.tokens);
  }
  return tokens.reduce((most, one) => Math.max(most, leastBins(one, cap)), 0);
}

/** Returns the fewest micro-batches of every rank that keep the cap, whatever the packing. */
export const leastCount = (groups: readonly RankGroup[], cap: number): number =>
  groups.reduce((most, group) => Math.max(most, leastOf(group, cap)), 0);

function checkSize(count: number, ranks: number): void {
  if (count * ranks <= mostMicroBatches) return;
  const expected = `at most ${mostMicroBatches} micro-batches on all ranks`;
  refuse('limit_exceeded', 'maxTokensPerMicroBatch', expected, count * ranks);
}

/**
 * Finds the fewest micro-batches for which every group has a packing: by first fit, and, if that needs more than the bound, by a
 * search.
 *
 * @throws PolicyError `limit_exceeded` for a plan of more than a million micro-batches
 */
export function pack(groups: readonly RankGroup[], settings: Limits): Packed {
  const cap = settings.maxTokensPerMicroBatch;
  const ranks = groups.reduce((sum, group) => sum + group.ranks, 0);
  const budget: Budget = { left: searchSteps };
  const fitting: Budget = { left: fittingSteps };
  let count = allowedCount(leastCount(groups, cap), settings);
  checkSize(count, ranks);
  const slots = groups.map((group): Slots => {
    const quick = firstFit(group, cap, fitting);
    let packing: Slots | undefined = quick.count <= count ? quick.slots : undefined;
    while (packing === undefined) {
      packing = searchPacking(group, count, cap, budget);
      if (packing !== undefined) break;
      count = allowedCount(count + 1, settings);
      if (quick.count <= count) packing = quick.slots;
    }
    return packing;
  });
  checkSize(count, ranks);
  return { count, slots };
}
