/** Assembles the micro-batches of the plan. */

import type { MicroBatch, MicroBatchesPlan } from '../../generated/settings/micro-batches.ts';
import { loadsOf } from './balance.ts';
import type { RankGroup, Slots } from './packed-ranks.ts';

type Ranks = MicroBatchesPlan['ranks'];

/**
 * Orders the micro-batches of a group for execution: most work first, so that ranks that wait for each other run micro-batches of
 * similar work; then most tokens, then the lowest number. Empty micro-batches come last.
 */
function order(group: RankGroup, slots: Slots, count: number): number[] {
  const loads = loadsOf(group, slots, count);
  const held = new Int32Array(count);
  for (const slot of slots) held[slot]! += 1;
  const most = (values: Float64Array, slot: number): number => {
    let largest = 0;
    for (let rank = 0; rank < group.ranks; rank += 1) largest = Math.max(largest, values[slot * group.ranks + rank]!);
    return largest;
  };
  const keys = Array.from(held, (items, slot) => ({
    slot,
    work: most(loads.work, slot),
    tokens: most(loads.tokens, slot),
    some: Math.min(1, items),
  }));
  keys.sort((a, b) => b.work - a.work || b.tokens - a.tokens || b.some - a.some || a.slot - b.slot);
  return keys.map((one) => one.slot);
}

/** Assembles the micro-batches of each rank. */
export function microBatchesOf(groups: readonly RankGroup[], slots: readonly Slots[], count: number): Ranks {
  const newOne = (): MicroBatch => ({ sequences: [], tokens: 0, work: 0, empty: true, overCap: false });
  const ranks = groups.reduce((sum, group) => sum + group.ranks, 0);
  const made = Array.from({ length: ranks }, () => ({ microBatches: Array.from({ length: count }, newOne) }));
  for (const [index, group] of groups.entries()) {
    const position = new Int32Array(count);
    for (const [at, slot] of order(group, slots[index]!, count).entries()) position[slot] = at;
    for (const [at, item] of group.items.entries()) {
      for (let rank = item.first; rank < item.first + item.width; rank += 1) {
        const one = made[group.firstRank + rank]!.microBatches[position[slots[index]![at]!]!]!;
        one.sequences.push(item.sequence);
        one.tokens += item.length / item.width;
        one.work += item.work;
        one.empty = false;
        one.overCap ||= item.overCap;
      }
    }
  }
  for (const rank of made) for (const one of rank.microBatches) one.sequences.sort((a, b) => a - b);
  return made;
}

/** Computes the metrics of the plan. */
export function metricsOf(ranks: Ranks, count: number): MicroBatchesPlan['metrics'] {
  const metrics = { maxTokens: 0, maxWork: 0, totalWork: 0, lockstepWork: 0, empty: 0 };
  for (let at = 0; at < count; at += 1) {
    let most = 0;
    for (const { microBatches } of ranks) {
      const { tokens, work, empty } = microBatches[at]!;
      most = Math.max(most, work);
      metrics.maxTokens = Math.max(metrics.maxTokens, tokens);
      metrics.totalWork += work;
      if (empty) metrics.empty += 1;
    }
    metrics.maxWork = Math.max(metrics.maxWork, most);
    metrics.lockstepWork += most;
  }
  return metrics;
}
