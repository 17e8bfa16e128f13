/** Spreads work evenly over a given number of micro-batches, under the cap. */
import { IndexedHeap } from '../../core/collections/heap.ts';
import { exchange } from './exchange.ts';
import type { Budget } from './pack.ts';
import { addTo, type Item, type Loads, mostOf, noLoads, type RankGroup, type Slots } from './packed-ranks.ts';

/** Limits for spreading a group. */
export interface Limits {
  readonly count: number;
  readonly cap: number;
  /** Limit on the moves and swaps that are looked at, times ranks. */
  readonly looks: number;
  /** Steps to place the items of all groups; a step looks at one micro-batch for one item on one rank. */
  readonly placing: Budget;
}

/** Returns the indices of the items: those of most ranks first, then those of most work; ties by index. */
function hardestFirst({ items }: RankGroup): number[] {
  const byWork = (a: Item, b: Item): number => b.width - a.width || b.work - a.work || b.tokens - a.tokens;
  return items.map((_, index) => index).sort((a, b) => byWork(items[a]!, items[b]!) || a - b);
}

/** Taking a micro-batch off the heap and putting it back counts as so many steps. */
const stepsOfMove = 16;

interface Filled {
  readonly slot: number;
  work: number;
  tokens: number;
  heapIndex: number;
}

/** Puts each item, hardest first, into the least loaded micro-batch where it fits; returns `undefined` if an item fits nowhere, or the steps are spent. */
function leastWorkFirst(group: RankGroup, count: number, cap: number, placing: Budget): Slots | undefined {
  if (group.ranks === 1) return leastWorkFirstAlone(group, count, cap, placing);
  const loads = noLoads(group, count);
  const slots = new Int32Array(group.items.length);
  for (const [placed, index] of hardestFirst(group).entries()) {
    const item = group.items[index]!;
    // Empty micro-batches are alike, so only the first empty one is tried; its index is at most the number of placed items.
    const most = Math.min(count, placed + 1);
    placing.left -= most * item.width;
    if (placing.left < 0) return undefined;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < most; slot += 1) {
      const work = mostOf(loads.work, group, item, slot);
      if (work >= least || mostOf(loads.tokens, group, item, slot) + item.tokens > cap) continue;
      best = slot;
      least = work;
    }
    if (best < 0) return undefined;
    addTo(loads, group, item, best);
    slots[index] = best;
  }
  return slots;
}

/** The same on one rank, with a heap: the least loaded micro-batch usually has room. */
function leastWorkFirstAlone(group: RankGroup, count: number, cap: number, placing: Budget): Slots | undefined {
  const slots = new Int32Array(group.items.length);
  const heap = new IndexedHeap<Filled>((a, b) => a.work - b.work || a.slot - b.slot);
  const used = Math.min(count, group.items.length);
  for (let slot = 0; slot < used; slot += 1) heap.update({ slot, work: 0, tokens: 0, heapIndex: -1 });
  for (const index of hardestFirst(group)) {
    const { work, tokens } = group.items[index]!;
    const full: Filled[] = [];
    let best = heap.peek();
    for (; best !== undefined && best.tokens + tokens > cap; best = heap.peek()) {
      heap.remove(best);
      full.push(best);
    }
    placing.left -= 1 + full.length * stepsOfMove;
    if (best === undefined || placing.left < 0) return undefined;
    best.work += work;
    best.tokens += tokens;
    heap.update(best);
    for (const one of full) heap.update(one);
    slots[index] = best.slot;
  }
  return slots;
}

/** Moves an item into every empty micro-batch: the item of least work from a micro-batch with several. */
function fillEmpty(group: RankGroup, slots: Slots, count: number): void {
  const held = Array.from({ length: count }, (): number[] => []);
  for (const index of hardestFirst(group)) held[slots[index]!]!.push(index);
  const several = held.filter((items) => items.length > 1);
  for (const [slot, items] of held.entries()) {
    if (items.length > 0) continue;
    const from = several.at(-1);
    if (from === undefined) return;
    const moved = from.pop()!;
    items.push(moved);
    slots[moved] = slot;
    if (from.length === 1) several.pop();
  }
}

/** Returns the loads of a group. */
export function loadsOf(group: RankGroup, slots: Slots, count: number): Loads {
  const loads = noLoads(group, count);
  for (const [index, slot] of slots.entries()) addTo(loads, group, group.items[index]!, slot);
  return loads;
}

/**
 * Spreads the items of a group over micro-batches. The items go, hardest first, into the micro-batch with least work; if the cap
 * does not allow this, the start is `packing`. Then items are moved and swapped out of the micro-batch with most work, as long as
 * that helps.
 *
 * @param packing - a packing into at most `count` micro-batches
 */
export function balance(group: RankGroup, packing: Slots, { count, cap, looks, placing }: Limits): Slots {
  const slots = leastWorkFirst(group, count, cap, placing) ?? Int32Array.from(packing);
  fillEmpty(group, slots, count);
  exchange(group, slots, loadsOf(group, slots, count), { cap, looks });
  return slots;
}
