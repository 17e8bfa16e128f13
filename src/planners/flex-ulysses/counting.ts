/** Bounds from below how much must be sharded, by counting the sequences that fit into the groups of each degree. */
import type { Instance } from './instance.ts';
import { cheapestFrom } from './instance.ts';

/** The fields that are counted: of an instance, or of a problem of the search. */
export type Counted = Pick<Instance, 'devices' | 'splitCost' | 'work' | 'lengths'>;

/** Limits may be passed by this, relative: sums in another order differ by less. */
const granted = 1 + 1e-8;

/** Returns the sums of the smallest sizes: of none, of one, … */
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

/** Returns the largest whole number up to a most that passes a test, which all smaller ones pass. */
function largestThat(most: number, passes: (one: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Bounds the number of sizes that fit into bins: of bins with c or more, there are no more than can have c of the
 * smallest.
 *
 * @param sums - of the smallest sizes
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
/** Halvings of the range that the least room lies in. */
const halvings = 50;

/**
 * Returns the least room of bins that as many items fit into as there are, by counting.
 *
 * @param sizes - of the items
 * @param known - the room is no less
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

/** The least that must be sharded. */
export interface Fewest {
  /** Lower bound on the communication of a plan within the limits. */
  readonly communication: number;
  /** Number of sequences above each level. */
  readonly above: readonly number[];
}

/**
 * Counts, for each level, the sequences that cannot be within its groups or below, and the cost of sharding so many
 * above it: those for which that costs least more.
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
