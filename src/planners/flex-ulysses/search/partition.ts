/**
 * Evens out groups by the items that they share: the shared items of two groups are divided anew in the best of all ways (two lists
 * of half sums: Horowitz and Sahni, 1974). This finds differences that are many orders below those that exchanges find.
 */
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** Of two groups together, so many shared items are divided anew: 2 × 2^12 sums, which give 2^24 ways; or, where that is enough, 2^16. */
export const finely = 24;
export const roughly = 16;
/** Rounds over all groups: more where they are divided finely, each with other items. */
const roundsOf = (most: number): number => (most === finely ? 4 : 2);

/** All sums of some sizes, ascending, with the set of sizes of each. */
interface Sums {
  readonly sum: Float64Array;
  readonly set: Int32Array;
}

/** Returns the sums of all subsets: with each size, the list is merged with the same list and the size added. */
export function sumsOf(sizes: readonly number[]): Sums {
  let sum = new Float64Array(1);
  let set = new Int32Array(1);
  sizes.forEach((size, bit) => {
    const { length } = sum;
    const nextSum = new Float64Array(2 * length);
    const nextSet = new Int32Array(2 * length);
    for (let at = 0, without = 0, including = 0; at < 2 * length; at += 1) {
      if (including === length || (without < length && sum[without]! <= sum[including]! + size)) {
        nextSum[at] = sum[without]!;
        nextSet[at] = set[without++]!;
      } else {
        nextSum[at] = sum[including]! + size;
        nextSet[at] = set[including++]! | (1 << bit);
      }
    }
    sum = nextSum;
    set = nextSet;
  });
  return { sum, set };
}

/**
 * Chooses the sizes with the largest sum that is at most `most`.
 *
 * @returns for each size whether it is chosen; `undefined` if `most` is below 0
 */
export function largestSum(sizes: readonly number[], most: number): boolean[] | undefined {
  const half = sizes.length >> 1;
  const [low, high] = [sumsOf(sizes.slice(0, half)), sumsOf(sizes.slice(half))];
  let best = Number.NEGATIVE_INFINITY;
  let chosen: readonly [number, number] | undefined;
  for (let a = 0, b = high.sum.length - 1; a < low.sum.length; a += 1) {
    while (b >= 0 && low.sum[a]! + high.sum[b]! > most) b -= 1;
    if (b < 0) break;
    const sum = low.sum[a]! + high.sum[b]!;
    if (sum <= best) continue;
    best = sum;
    chosen = [low.set[a]!, high.set[b]!];
  }
  if (chosen === undefined) return undefined;
  const [first, second] = chosen;
  return sizes.map((_, at) => ((at < half ? first >> at : second >> (at - half)) & 1) === 1);
}

/** Groups of one level, with the items that each shares. */
class Shared {
  readonly #layout: Layout;
  readonly #level: number;
  readonly items: number[][];

  constructor(layout: Layout, level: number) {
    this.#layout = layout;
    this.#level = level;
    this.items = Array.from({ length: layout.problem.devices >> level }, (): number[] => []);
    layout.level.forEach((one, item) => {
      if (one === level) this.items[layout.group[item]!]!.push(item);
    });
  }

  /** Most work of a device of a group. */
  peak(group: number): number {
    let peak = 0;
    for (let device = group << this.#level; device < (group + 1) << this.#level; device += 1)
      peak = Math.max(peak, this.#layout.work[device]!);
    return peak;
  }

  /**
   * Fills a group with its own items and those of another group, which gets the rest.
   *
   * @param most - number of items that are divided anew, even
   * @param spare - share of the room of both that the group leaves: 0 fills it up to its limit
   */
  divide(group: number, other: number, round: number, spare: number, most: number): void {
    const { problem } = this.#layout;
    const size = 1 << this.#level;
    const pick = (list: readonly number[]): number[] => {
      const count = Math.min(list.length, most / 2);
      return Array.from(
        { length: count },
        (_, at) => list[(Math.floor((at * list.length) / count) + round) % list.length]!,
      );
    };
    const mine = pick(this.items[group]!);
    const theirs = pick(this.items[other]!);
    const all: number[] = [];
    for (let at = 0; at < Math.max(mine.length, theirs.length); at += 1)
      for (const list of [mine, theirs]) if (at < list.length) all.push(list[at]!);
    problem.budget.spend(2 ** (2 + (all.length >> 1)));
    const held = mine.reduce((sum, item) => sum + problem.work[item]!, 0);
    const room = (1 - this.peak(group)) * size;
    const both = Math.max(0, room + (1 - this.peak(other)) * size);
    const chosen = largestSum(
      all.map((item) => problem.work[item]!),
      held + room - spare * both + slop * size * 0.5,
    );
    if (chosen === undefined) return;
    const kept = (list: readonly number[], gone: readonly number[]): number[] =>
      list.filter((one) => !gone.includes(one));
    const here = all.filter((_, at) => chosen[at]);
    const there = all.filter((_, at) => !chosen[at]);
    this.items[group] = [...kept(this.items[group]!, mine), ...here];
    this.items[other] = [...kept(this.items[other]!, theirs), ...there];
    for (const item of here) this.#layout.put(item, this.#level, group);
    for (const item of there) this.#layout.put(item, this.#level, other);
  }
}

/**
 * Divides the items that groups share anew, until no device is over a limit.
 *
 * @param level - the level of the groups
 * @param most - number of items of two groups that are divided anew: `finely` or `roughly`
 * @returns whether no device is over a limit
 */
export function partition(layout: Layout, level: number, most: number): boolean {
  const { budget, devices } = layout.problem;
  const shared = new Shared(layout, level);
  const groups = Array.from({ length: devices >> level }, (_, group) => group).filter(
    (group) => shared.items[group]!.length > 0,
  );
  for (let round = 0; round < roundsOf(most) && !budget.isSpent; round += 1) {
    if (layout.fits()) return true;
    groups.sort((a, b) => shared.peak(b) - shared.peak(a) || a - b);
    if (round % 2 === 0) {
      for (let at = 0; 2 * at + 1 < groups.length; at += 1)
        shared.divide(groups.at(-1 - at)!, groups[at]!, round, 1 / 2, most);
    } else
      for (let at = 0; at + 1 < groups.length; at += 1) shared.divide(groups[at]!, groups[at + 1]!, round, 0, most);
  }
  return layout.fits();
}
