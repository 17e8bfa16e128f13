/** Computes lower bounds on what must be sharded, by counting the sequences that fit into the groups of each degree. */
import type { Instance } from './instance.ts';
import { cheapestFrom } from './instance.ts';

/** The fields that the bounds depend on, which both an instance and a problem of the search have. */
export type Counted = Pick<Instance, 'devices' | 'splitCost' | 'work' | 'lengths'>;

/** A load may exceed its limit by this factor, because sums in another order differ by less. */
const granted = 1 + 1e-8;

/** Returns the sums of the smallest sizes; element n is the sum of the n smallest. */
function smallestSums(sizes: Float64Array): Float64Array {
  const sums = new Float64Array(sizes.length + 1);
  sizes
    .slice()
    .sort()
    .forEach((size, at) => {
      sums[at + 1] = sums[at]! + size;
    });
  return sums;
}

/** Returns the largest whole number from 0 to `most` that passes the test; if a number passes, all smaller ones must. */
function largestThat(most: number, holds: (one: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns an upper bound on the number of items that fit into the bins. For each c, at most b bins can have c or more items,
 * where b is the largest number for which the b · c smallest items fit into the room of b bins together. The bound is the sum
 * of b over all c, and at most the number of smallest items that fit into the room of all bins together.
 *
 * @param sums - at k: the sum of the k smallest sizes
 */
function mostThatFit(sums: Float64Array, bins: number, room: number): number {
  const sizes = sums.length - 1;
  let most = 0;
  for (let each = 1; ; each += 1) {
    const some = Math.min(bins, Math.floor(sizes / each));
    const full = largestThat(some, (one) => sums[one * each]! <= one * room);
    if (full === 0) break;
    most += full;
  }
  return Math.min(
    most,
    largestThat(sizes, (one) => sums[one]! <= bins * room),
  );
}

/** With more sequences per bin, counting finds no more than the mean does. */
const mostEach = 64;
/** The search for the least room halves its range so many times. */
const halvings = 50;

/**
 * Returns the least room per bin with which, by counting, all items fit into the bins.
 *
 * @param sizes - sizes of the items
 * @param known - a known lower bound on the room
 */
export function leastRoom(sizes: Float64Array, bins: number, known: number): number {
  if (sizes.length > mostEach * bins) return known;
  const sums = smallestSums(sizes);
  const fits = (room: number): boolean => mostThatFit(sums, bins, room) === sizes.length;
  let low = known;
  let high = known * granted;
  if (fits(high)) return known;
  while (!fits(high)) {
    low = high;
    high *= 2;
  }
  for (let step = 0; step < halvings; step += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return low;
}

/** Lower bounds on the sharding that any plan needs. */
export interface Fewest {
  /** Lower bound on the communication of a plan within the limits. */
  readonly communication: number;
  /** Least number of sequences above each level. */
  readonly above: readonly number[];
}

/**
 * Counts, for each level, the sequences that must be at a higher level, because the groups of this level have no room for them.
 * Adds the extra cost of sharding so many sequences, those with the least extra cost.
 *
 * @param computeLimit - most compute of a device
 * @param memoryCap - most tokens of a device
 */
export function fewestSharded(counted: Counted, computeLimit: number, memoryCap: number): Fewest {
  const { devices, splitCost, work, lengths } = counted;
  const sums = [smallestSums(work), smallestSums(lengths)] as const;
  const limits = [computeLimit * granted, memoryCap * granted] as const;
  let communication = 0;
  const above = splitCost.slice(1).map((_, level) => {
    const most = sums.map((one, at) => mostThatFit(one, devices >> level, limits[at]! * 2 ** level));
    const count = work.length - Math.min(...most);
    if (count === 0) return 0;
    const more = work.map((_, i) => cheapestFrom(splitCost, i, level + 1) - cheapestFrom(splitCost, i, level)).sort();
    for (let one = 0; one < count; one += 1) communication += more[one]!;
    return count;
  });
  return { communication, above: [...above, 0] };
}
