/** Chooses the number of micro-batches per rank, and packs each part into at most so many. */
import { refuse } from '../../errors.ts';
import type { MicroBatchesSettings } from '../../generated/settings/micro-batches.ts';
import { leastBins } from './least.ts';
import { type Budget, firstFit, fittingSteps, searchPacking } from './pack.ts';
import type { Part, Slots } from './packed-ranks.ts';

/** Limit on the steps of all searches in a plan. The limit is a count and not a time, so that every machine makes the same plan. */
const searchSteps = 20_000_000;
/** Limit on the micro-batches of all ranks, because a larger plan would not be worth its size. */
const mostMicroBatches = 1_000_000;

/** A packing of every part into at most `count` micro-batches. */
export interface Packed {
  readonly count: number;
  readonly slots: readonly Slots[];
}

type Limits = Pick<MicroBatchesSettings, 'maxTokensPerMicroBatch' | 'minMicroBatches' | 'divisibleBy'>;

/** Returns the least number >= a bound that the settings allow. */
export function allowedCount(bound: number, { minMicroBatches, divisibleBy }: Limits): number {
  return Math.ceil(Math.max(bound, minMicroBatches) / divisibleBy) * divisibleBy;
}

/** Returns the fewest micro-batches that a rank of a part needs. */
function leastOf(part: Part, cap: number): number {
  const tokens = Array.from({ length: part.ranks }, (): number[] => []);
  for (const item of part.items) {
    for (let rank = item.first; rank < item.first + item.width; rank += 1) tokens[rank]!.push(item.tokens);
  }
  return tokens.reduce((most, one) => Math.max(most, leastBins(one, cap)), 0);
}

/** Returns the fewest micro-batches of every rank that keep the cap, whatever the packing. */
export const leastCount = (parts: readonly Part[], cap: number): number =>
  parts.reduce((most, part) => Math.max(most, leastOf(part, cap)), 0);

function checkSize(count: number, ranks: number): void {
  if (count * ranks <= mostMicroBatches) return;
  const expected = `at most ${mostMicroBatches} micro-batches on all ranks`;
  refuse('limit_exceeded', 'maxTokensPerMicroBatch', expected, count * ranks);
}

/**
 * Finds the fewest micro-batches for which every part has a packing: by first fit, and, if that needs more than the bound, by a
 * search.
 *
 * @throws PolicyError `limit_exceeded` for a plan of more than a million micro-batches
 */
export function pack(parts: readonly Part[], settings: Limits): Packed {
  const cap = settings.maxTokensPerMicroBatch;
  const ranks = parts.reduce((sum, part) => sum + part.ranks, 0);
  const budget: Budget = { left: searchSteps };
  const fitting: Budget = { left: fittingSteps };
  let count = allowedCount(leastCount(parts, cap), settings);
  checkSize(count, ranks);
  const slots = parts.map((part): Slots => {
    const quick = firstFit(part, cap, fitting);
    let packing: Slots | undefined = quick.count <= count ? quick.slots : undefined;
    while (packing === undefined) {
      packing = searchPacking(part, count, cap, budget);
      if (packing !== undefined) break;
      count = allowedCount(count + 1, settings);
      if (quick.count <= count) packing = quick.slots;
    }
    return packing;
  });
  checkSize(count, ranks);
  return { count, slots };
}
