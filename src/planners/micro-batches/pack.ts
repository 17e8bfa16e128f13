/** Packs the sequences of a group into few micro-batches under the cap. */
import { refuse } from '../../errors.ts';
import { addTo, type Item, type Loads, mostOf, noLoads, type RankGroup, type Slots } from './packed-ranks.ts';

/** Steps that a search may still take. */
export interface Budget {
  left: number;
}

/** Limit on items × ranks of a group that is searched: with more, first fit is near the best. */
const mostSearched = 512;
const mostShares = 65_536;
/** Limit on the steps of one search. */
const searchSteps = 2_000_000;

/** Limit on the steps of first fit on ranks that share sequences; a step looks at one micro-batch on one rank. */
export const fittingSteps = 1_000_000_000;

/** Returns the indices of the items: those of most ranks first, then those of most tokens; ties by index. */
function largestFirst({ items }: RankGroup): number[] {
  const byTokens = (a: Item, b: Item): number => b.width - a.width || b.tokens - a.tokens;
  return items.map((_, index) => index).sort((a, b) => byTokens(items[a]!, items[b]!) || a - b);
}

/**
 * Puts each item, largest first, into the first micro-batch where it fits.
 *
 * @returns the micro-batch of each item, and the number of micro-batches
 * @throws PolicyError `limit_exceeded` if ranks that share sequences have very many of them in very many micro-batches
 */
export function firstFit(group: RankGroup, cap: number, fitting: Budget): { slots: Slots; count: number } {
  if (group.ranks === 1) return firstFitAlone(group, cap);
  const slots = new Int32Array(group.items.length);
  const loads: Float64Array[] = [];
  const fits = (load: Float64Array, { first, width, tokens }: Item): boolean => {
    for (let rank = first; rank < first + width; rank += 1) if (load[rank]! + tokens > cap) return false;
    return true;
  };
  for (const index of largestFirst(group)) {
    const item = group.items[index]!;
    let slot = 0;
    while (slot < loads.length && !fits(loads[slot]!, item)) slot += 1;
    fitting.left -= (slot + 1) * item.width;
    if (fitting.left < 0) {
      const expected = `fewer sequences, fewer micro-batches or lower degrees: at most ${fittingSteps} steps to pack them`;
      refuse('limit_exceeded', 'maxTokensPerMicroBatch', expected, 'more');
    }
    if (slot === loads.length) loads.push(new Float64Array(group.ranks));
    for (let rank = item.first; rank < item.first + item.width; rank += 1) loads[slot]![rank]! += item.tokens;
    slots[index] = slot;
  }
  return { slots, count: loads.length };
}

/** First fit on one rank, by a tree of the least loads, so that a search takes logarithmic and not linear time. */
function firstFitAlone(group: RankGroup, cap: number): { slots: Slots; count: number } {
  const slots = new Int32Array(group.items.length);
  let leaves = 1;
  while (leaves < group.items.length) leaves *= 2;
  const least = new Float64Array(2 * leaves);
  let count = 0;
  for (const index of largestFirst(group)) {
    const { tokens } = group.items[index]!;
    let at = 1;
    while (at < leaves) at = least[2 * at]! + tokens <= cap ? 2 * at : 2 * at + 1;
    slots[index] = at - leaves;
    count = Math.max(count, at - leaves + 1);
    least[at]! += tokens;
    for (at >>= 1; at >= 1; at >>= 1) least[at] = Math.min(least[2 * at]!, least[2 * at + 1]!);
  }
  return { slots, count };
}

/** Whether two micro-batches have the same tokens on every rank, so that only one of them is tried. */
function alike(group: RankGroup, tokens: Float64Array, one: number, other: number): boolean {
  for (let rank = 0; rank < group.ranks; rank += 1) {
    if (tokens[one * group.ranks + rank] !== tokens[other * group.ranks + rank]) return false;
  }
  return true;
}

/** Returns the micro-batches worth trying for an item, fullest first: those where the item fits, without repeating equal ones. */
function choices(group: RankGroup, loads: Loads, item: Item, count: number, cap: number): number[] {
  const found: number[] = [];
  for (let slot = 0; slot < count; slot += 1) {
    const most = mostOf(loads.tokens, group, item, slot) + item.tokens;
    if (most > cap || found.some((other) => alike(group, loads.tokens, slot, other))) continue;
    // On one rank, no choice is better than filling a micro-batch to the last token.
    if (group.ranks === 1 && most === cap) return [slot];
    found.push(slot);
  }
  const fullness = (slot: number): number => mostOf(loads.tokens, group, item, slot);
  return found.sort((a, b) => fullness(b) - fullness(a) || a - b);
}

/** Returns, for each place of an order, the tokens per rank of the items from this place on, and the smallest of these items. */
function remaining(group: RankGroup, order: readonly number[]): { tokens: Float64Array[]; smallest: Float64Array } {
  const tokens = Array.from({ length: order.length + 1 }, () => new Float64Array(group.ranks));
  const smallest = new Float64Array(order.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const item = group.items[order[at]!]!;
    const sums = tokens[at]!;
    sums.set(tokens[at + 1]!);
    for (let rank = item.first; rank < item.first + item.width; rank += 1) sums[rank]! += item.tokens;
    smallest[at] = Math.min(smallest[at + 1]!, item.tokens);
  }
  return { tokens, smallest };
}

/**
 * Searches for a packing into `count` micro-batches by branch and bound: largest item first, fullest micro-batch first. The
 * search gives up a branch if the room that the remaining items can use is too small.
 *
 * @returns the micro-batch of each item; `undefined` if there is no packing, or the steps are used up
 */
export function searchPacking(group: RankGroup, count: number, cap: number, budget: Budget): Slots | undefined {
  if (group.items.length > mostSearched || group.items.length * group.ranks > mostShares) return undefined;
  const order = largestFirst(group);
  const rest = remaining(group, order);
  const loads = noLoads(group, count);
  const slots = new Int32Array(group.items.length);
  let steps = Math.min(budget.left, searchSteps);
  budget.left -= steps;

  const hopeless = (at: number): boolean => {
    for (let rank = 0; rank < group.ranks; rank += 1) {
      let usable = 0;
      for (let slot = 0; slot < count; slot += 1) {
        const free = cap - loads.tokens[slot * group.ranks + rank]!;
        if (free >= rest.smallest[at]!) usable += free;
      }
      if (usable < rest.tokens[at]![rank]!) return true;
    }
    return false;
  };
  const place = (at: number): boolean => {
    if (at === order.length) return true;
    steps -= count * group.ranks;
    if (steps < 0 || hopeless(at)) return false;
    const index = order[at]!;
    const item = group.items[index]!;
    for (const slot of choices(group, loads, item, count, cap)) {
      addTo(loads, group, item, slot);
      slots[index] = slot;
      if (place(at + 1)) return true;
      addTo(loads, group, item, slot, -1);
      if (steps < 0) return false;
    }
    return false;
  };
  const found = place(0);
  budget.left += Math.max(0, steps);
  return found ? slots : undefined;
}
