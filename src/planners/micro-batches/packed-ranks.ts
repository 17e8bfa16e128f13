/** Groups: ranks that must be packed together, because they share sequences. */

/** A sequence of one rank, or one that several ranks share. */
export interface Item {
  /** Index of the sequence, as the plan names it. */
  readonly sequence: number;
  /** First rank of the item, counted from the first rank of the group. */
  readonly first: number;
  /** Number of ranks that share the sequence. */
  readonly width: number;
  /** Tokens of the whole sequence. */
  readonly length: number;
  /** Tokens per rank, at most the cap. */
  readonly tokens: number;
  /** Work per rank. */
  readonly work: number;
  /** Whether the item alone exceeds the cap. */
  readonly overCap: boolean;
}

/** Neighbouring ranks, with the sequences that only these ranks have. */
export interface RankGroup {
  readonly firstRank: number;
  readonly ranks: number;
  readonly items: readonly Item[];
}

/** For each item, the number of its micro-batch. */
export type Slots = Int32Array;

/** Loads by micro-batch and rank of a group in each micro-batch; the load of rank r in micro-batch s is at s · ranks + r. */
export interface Loads {
  readonly tokens: Float64Array;
  readonly work: Float64Array;
}

/** Returns loads of 0. */
export const noLoads = (group: RankGroup, count: number): Loads => ({
  tokens: new Float64Array(group.ranks * count),
  work: new Float64Array(group.ranks * count),
});

/** Puts an item in a micro-batch, or takes it out. */
export function addTo(loads: Loads, group: RankGroup, item: Item, slot: number, sign: 1 | -1 = 1): void {
  const from = slot * group.ranks + item.first;
  for (let at = from; at < from + item.width; at += 1) {
    loads.tokens[at]! += sign * item.tokens;
    loads.work[at]! += sign * item.work;
  }
}

/** Returns the largest load among an item's ranks in a micro-batch. */
export function mostOf(loads: Float64Array, group: RankGroup, item: Item, slot: number): number {
  const from = slot * group.ranks + item.first;
  let most = 0;
  for (let at = from; at < from + item.width; at += 1) most = Math.max(most, loads[at]!);
  return most;
}

/** Returns the groups of ranks that share items: runs of neighbours, in order. A rank without a sequence is a group by itself. */
export function rankGroupsOf(ranks: number, items: readonly Item[]): RankGroup[] {
  /** For each rank, the end (exclusive) of the widest item that starts at this rank. */
  const reach = Int32Array.from({ length: ranks }, (_, rank) => rank + 1);
  for (const { first, width } of items) reach[first] = Math.max(reach[first]!, first + width);
  const groupOfRank = new Int32Array(ranks);
  const groups: { firstRank: number; ranks: number; items: Item[] }[] = [];
  for (let rank = 0; rank < ranks; ) {
    let end = reach[rank]!;
    for (let at = rank; at < end; at += 1) {
      end = Math.max(end, reach[at]!);
      groupOfRank[at] = groups.length;
    }
    groups.push({ firstRank: rank, ranks: end - rank, items: [] });
    rank = end;
  }
  for (const item of items) {
    const group = groups[groupOfRank[item.first]!]!;
    group.items.push({ ...item, first: item.first - group.firstRank });
  }
  return groups;
}
