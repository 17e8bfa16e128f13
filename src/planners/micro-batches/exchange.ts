/** Moves and swaps items to take work off the micro-batch with most work. */
import { addTo, type Item, type Loads, type RankGroup, type Slots } from './packed-ranks.ts';

/** Limits of the search. */
interface ExchangeLimits {
  readonly cap: number;
  /** Limit on the moves and swaps that are looked at, times ranks. */
  readonly looks: number;
}

/** An item that leaves the worst micro-batch, and the item that comes back in exchange, or −1. */
interface Exchange {
  readonly out: number;
  readonly back: number;
  readonly to: number;
}

const share = (item: Item | undefined, rank: number, kind: 'tokens' | 'work'): number =>
  item !== undefined && rank >= item.first && rank < item.first + item.width ? item[kind] : 0;

/** Returns the most work of a rank in both micro-batches after an exchange; infinite if the cap does not allow it. */
function workAfter(
  group: RankGroup,
  loads: Loads,
  [out, from]: readonly [Item, number],
  [back, to]: readonly [Item | undefined, number],
  cap: number,
): number {
  const first = Math.min(out.first, back?.first ?? out.first);
  const end = Math.max(out.first + out.width, back === undefined ? 0 : back.first + back.width);
  let most = 0;
  for (let rank = first; rank < end; rank += 1) {
    const here = from * group.ranks + rank;
    const there = to * group.ranks + rank;
    const tokens = share(out, rank, 'tokens') - share(back, rank, 'tokens');
    if (loads.tokens[there]! + tokens > cap || loads.tokens[here]! - tokens > cap) return Number.POSITIVE_INFINITY;
    const work = share(out, rank, 'work') - share(back, rank, 'work');
    most = Math.max(most, loads.work[here]! - work, loads.work[there]! + work);
  }
  return most;
}

/** Returns the index of the largest work among the ranks that are not stuck; ties go to the first; −1 if all are stuck. */
function worst(work: Float64Array, stuck: Uint8Array): number {
  let at = -1;
  let most = -1;
  for (let one = 0; one < work.length; one += 1) {
    if (work[one]! <= most || stuck[one % stuck.length] === 1) continue;
    at = one;
    most = work[one]!;
  }
  return at;
}

/**
 * Makes the best exchange out of the micro-batch with most work until no exchange lowers it, then goes on with the other ranks,
 * until all are stuck or the budget is used up. If an exchange may have helped other ranks, the search looks at all ranks again.
 * The search ends: an exchange leaves both micro-batches, on all its ranks, with less work than the worst micro-batch had.
 *
 * Ties go to the lowest leaving item, micro-batch and returning item, in this order; a move comes before a swap.
 */
export function exchange(group: RankGroup, slots: Slots, loads: Loads, { cap, looks }: ExchangeLimits): void {
  const count = loads.work.length / group.ranks;
  const held = Array.from({ length: count }, (): number[] => []);
  for (const [index, slot] of slots.entries()) held[slot]!.push(index);
  let left = looks;

  const bestFrom = (at: number): Exchange | undefined => {
    const from = Math.floor(at / group.ranks);
    const rank = at % group.ranks;
    // A rounding error must not count as progress.
    let limit = loads.work[at]! * (1 - 1e-12);
    let best: Exchange | undefined;
    const look = (out: number, back: number, to: number): void => {
      left -= group.ranks;
      const returning = back < 0 ? undefined : group.items[back];
      const work = workAfter(group, loads, [group.items[out]!, from], [returning, to], cap);
      if (work >= limit) return;
      limit = work;
      best = { out, back, to };
    };
    for (const out of held[from]!) {
      if (share(group.items[out], rank, 'work') === 0) continue;
      for (let to = 0; to < count && left > 0; to += 1) {
        if (to === from) continue;
        look(out, -1, to);
        for (const back of held[to]!) look(out, back, to);
      }
    }
    return best;
  };
  const relocate = (index: number, from: number, to: number): void => {
    addTo(loads, group, group.items[index]!, from, -1);
    addTo(loads, group, group.items[index]!, to);
    held[from]!.splice(held[from]!.indexOf(index), 1);
    held[to]!.push(index);
    slots[index] = to;
  };
  const stuck = new Uint8Array(group.ranks);
  let someHelped = false;
  while (left > 0) {
    const at = worst(loads.work, stuck);
    if (at < 0) {
      if (!someHelped) return;
      someHelped = false;
      stuck.fill(0);
      continue;
    }
    const best = bestFrom(at);
    if (best === undefined) {
      stuck[at % group.ranks] = 1;
      continue;
    }
    // With one rank, an exchange cannot help other ranks.
    someHelped = group.ranks > 1;
    const from = Math.floor(at / group.ranks);
    relocate(best.out, from, best.to);
    if (best.back >= 0) relocate(best.back, best.to, from);
  }
}
