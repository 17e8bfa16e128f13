/**
 * Evens out groups by the items that they share: the shared items of two groups are divided anew in the best of all ways (two lists
 * of half sums: Horowitz and Sahni, 1974). This finds differences that are many orders below those that exchanges find.
 */
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** Of two groups together, so many shared items are divided anew: 2 × 2^12 sums, which give 2^24 ways; or, where that is enough, 2^16. */
export const finely = 24;
export const roughly = 16;
/** Rounds over all groups. After some, a round that leaves more than half of the excess is the last: the items do not allow more. */
const leastRounds = 4;
const mostRounds = 8;
const enough = 1 / 2;

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
   * Divides the items of two groups anew, so that both have the same room left.
   *
   * @param round - which of the items take part, if there are too many
   * @param most - number of items that are divided anew, even
   */
  divide(group: number, other: number, round: number, most: number): void {
    const { work, budget } = this.#layout.problem;
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
    // Items of both groups in turn, so that each list of half sums has some of both.
    const all: number[] = [];
    for (let at = 0; at < Math.max(mine.length, theirs.length); at += 1)
      for (const list of [mine, theirs]) if (at < list.length) all.push(list[at]!);
    budget.spend(2 ** (2 + (all.length >> 1)));
    const held = mine.reduce((sum, item) => sum + work[item]!, 0);
    const moved = ((this.peak(other) - this.peak(group)) / 2) * size;
    const chosen = largestSum(
      all.map((item) => work[item]!),
      held + moved + slop * size * 0.5,
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
 * Divides the items that groups share anew, the most loaded group's with the least loaded one's and so on, until no device is over
 * a limit, or no round helps.
 *
 * @param level - the level of the groups
 * @param most - number of items of two groups that are divided anew: `finely` or `roughly`
 * @param first - first of the groups; all groups of the level if absent
 * @returns whether no device of these groups is over a limit
 */
export function partition(layout: Layout, level: number, most: number, first = 0, count?: number): boolean {
  const { budget, devices } = layout.problem;
  const shared = new Shared(layout, level);
  const groups = Array.from({ length: count ?? devices >> level }, (_, at) => first + at);
  const over = (): number => groups.reduce((sum, group) => sum + Math.max(0, shared.peak(group) - 1 - slop), 0);
  const sharing = groups.filter((group) => shared.items[group]!.length > 0);
  let before = Number.POSITIVE_INFINITY;
  for (let round = 0; round < mostRounds && !budget.isSpent; round += 1) {
    const now = over();
    if (now === 0) return true;
    if (round >= leastRounds && now > before * enough) return false;
    before = now;
    sharing.sort((a, b) => shared.peak(b) - shared.peak(a) || a - b);
    for (let at = 0; 2 * at + 1 < sharing.length; at += 1)
      shared.divide(sharing.at(-1 - at)!, sharing[at]!, round, most);
  }
  return over() === 0;
}
