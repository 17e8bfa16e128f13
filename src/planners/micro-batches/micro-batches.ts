/**
 * Micro-batches under a token cap, the same number on every rank, with even work. See README.md.
 */

import { valueAt } from '../../core/lengths/length-function.ts';
import { definePlanner, type PlannerDefinition } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type {
  MicroBatchesInput,
  MicroBatchesPlan,
  MicroBatchesSettings,
} from '../../generated/settings/micro-batches.ts';
import { balance } from './balance.ts';
import { allowedCount, leastCount, type Packed, pack } from './count.ts';
import { deal } from './deal.ts';
import { leastBins } from './least.ts';
import { type Item, type RankGroup, rankGroupsOf } from './packed-ranks.ts';
import { metricsOf, microBatchesOf } from './plan.ts';
import { microBatchesPlan } from './plan-schema.ts';
import { microBatchesInput } from './schema.ts';

/**
 * Limits on the moves and swaps that are looked at, in a group and in total; counts, not times, so that every machine makes the same
 * plan.
 */
const looksOfGroup = 2_000_000;
const looksOfPlan = 10_000_000;
/** Limit on the steps to place all items by work; with more, micro-batches are packed by tokens, and then evened out. */
const placingSteps = 50_000_000;

/** Returns the item of a sequence for the ranks that share it. */
function itemOf(
  settings: MicroBatchesSettings,
  sequence: number,
  length: number,
  path: string,
  [first, width]: readonly [number, number],
): Item {
  const cap = settings.maxTokensPerMicroBatch;
  const tokens = length / width;
  if (tokens > cap && settings.overlong === 'refuse') {
    refuse('infeasible', path, `a sequence of at most ${cap * width} tokens (or overlong: alone)`, length);
  }
  const work = (length === 0 ? 0 : valueAt(settings.compute, length, 'compute')) / width;
  return { sequence, first, width, length, tokens: Math.min(tokens, cap), work, overCap: tokens > cap };
}

/** A packing of sequences whose ranks are known. */
interface PackedGroups extends Packed {
  readonly groups: readonly RankGroup[];
}

function packed(items: readonly Item[], ranks: number, settings: MicroBatchesSettings): PackedGroups {
  const groups = rankGroupsOf(ranks, items);
  return { groups, ...pack(groups, settings) };
}

/** Deals out the whole batch by work; or by tokens, if that gives fewer micro-batches. */
function dealt(all: readonly Item[], ranks: number, bound: number, settings: MicroBatchesSettings): PackedGroups {
  const packedBy = (load: 'work' | 'tokens'): PackedGroups => {
    const subsets = deal(
      all.map((item) => item[load]),
      ranks,
    );
    return packed(
      subsets.flatMap((subset, first) => subset.map((index) => ({ ...all[index]!, first }))),
      ranks,
      settings,
    );
  };
  const byWork = packedBy('work');
  if (byWork.count <= bound) return byWork;
  const byTokens = packedBy('tokens');
  return byTokens.count < byWork.count ? byTokens : byWork;
}

/** Returns the plan of packed sequences: work is spread evenly. */
function planOf({ groups, count, slots }: PackedGroups, bound: number, cap: number): MicroBatchesPlan {
  const looks = Math.min(looksOfGroup, Math.floor(looksOfPlan / groups.length));
  const placing = { left: placingSteps };
  const balanced = slots.map((packing, index) => balance(groups[index]!, packing, { count, cap, looks, placing }));
  const ranks = microBatchesOf(groups, balanced, count);
  return { count, ranks, bounds: { count: bound }, metrics: metricsOf(ranks, count) };
}

function compute(settings: MicroBatchesSettings): MicroBatchesPlan {
  // The schema ensures that the input has either lengths by rank, or lengths and ranks.
  const { lengthsByRank, lengths = [], ranks = 1, assignments, maxTokensPerMicroBatch: cap } = settings;
  if (lengthsByRank === undefined && assignments === undefined) {
    const items = lengths.map((length, index) => itemOf(settings, index, length, `lengths[${index}]`, [0, 1]));
    const sizes = items.map((item) => item.tokens);
    const bound = allowedCount(Math.ceil(leastBins(sizes, cap) / ranks), settings);
    return planOf(dealt(items, ranks, bound, settings), bound, cap);
  }
  const items =
    lengthsByRank?.flatMap((own, rank) =>
      own.map((length, index) => itemOf(settings, index, length, `lengthsByRank[${rank}][${index}]`, [rank, 1])),
    ) ??
    (assignments ?? []).map(({ sequence, degree, devices }) =>
      itemOf(settings, sequence, lengths[sequence]!, `lengths[${sequence}]`, [devices[0]!, degree]),
    );
  const all = packed(items, lengthsByRank?.length ?? ranks, settings);
  return planOf(all, allowedCount(leastCount(all.groups, cap), settings), cap);
}

/** Packs sequences into micro-batches under a token cap: the same number on every rank, with even work. */
export const microBatches: PlannerDefinition<
  MicroBatchesInput,
  MicroBatchesSettings,
  MicroBatchesPlan,
  'micro-batches'
> = definePlanner({
  id: 'micro-batches',
  version: 1,
  summary: 'Micro-batches under a token cap, the same number on every rank, with even work.',
  source: 'verl, slime',
  input: microBatchesInput,
  plan: microBatchesPlan,
  compute,
});
