/** Constructs placements in one pass, and mends them. */
import type { GroupLayout } from './group-layout.ts';
import { type Layout, leastLoaded } from './layout.ts';
import { type Problem, slop } from './problem.ts';

/** No group reaches this fill, so items always go to the group with the least load. */
const nowhere = -1;

/** Loads of the top groups, as shares of their limits. */
class Shares {
  readonly #problem: Problem;
  readonly #work: Float64Array;
  readonly #memory: Float64Array;

  constructor(problem: Problem) {
    this.#problem = problem;
    this.#work = new Float64Array(problem.groups);
    this.#memory = new Float64Array(problem.groups);
  }

  /**
   * Gives some items to the group that becomes fullest with them without exceeding a fill; without such a group, to the group
   * with the least load.
   */
  give(items: readonly number[], fill: number): number {
    const { work, memory, groups, top } = this.#problem;
    const moreWork = items.reduce((sum, item) => sum + work[item]!, 0) / top;
    const moreMemory = items.reduce((sum, item) => sum + memory[item]!, 0) / top;
    let best = 0;
    let rank = Number.POSITIVE_INFINITY;
    for (let group = 0; group < groups; group += 1) {
      const load = Math.max(this.#work[group]! + moreWork, this.#memory[group]! + moreMemory);
      const one = load <= fill ? -load : load;
      if (one >= rank) continue;
      rank = one;
      best = group;
    }
    this.#work[best]! += moreWork;
    this.#memory[best]! += moreMemory;
    return best;
  }
}

/**
 * Places items, most work first: some are spread over top groups, the others whole on the least loaded device.
 *
 * @param spread - number of first items that are spread; items that do not fit on one device are always spread
 * @param fill - spread items go into the fullest group whose load stays within this share; without such a group, and with 0, into
 * the least loaded group. Full groups leave other groups empty for items that need a device alone.
 */
export function construct(layout: Layout, spread: number, fill: number): void {
  const { items, levels, devices, least, budget } = layout.problem;
  budget.spend(items * devices);
  const isSpread = (item: number): boolean => item < spread || least[item]! > 0;
  layout.clear();
  const shares = new Shares(layout.problem);
  for (let item = 0; item < items; item += 1)
    if (isSpread(item)) layout.put(item, levels - 1, shares.give([item], fill));
  for (let item = 0; item < items; item += 1)
    if (!isSpread(item)) layout.put(item, 0, leastLoaded(layout, item, 0, devices));
}

/**
 * Puts every item, most work first, into the group with the least work so far; only items that must be spread are spread.
 *
 * @param fill - as for {@link construct}
 */
export function constructGroups(layout: GroupLayout, fill: number): void {
  const { items, groups, least, budget } = layout.problem;
  budget.spend(items * groups);
  layout.clear();
  const shares = new Shares(layout.problem);
  for (let item = 0; item < items; item += 1) {
    const spread = least[item]! > 0;
    layout.put(item, shares.give([item], spread ? fill : nowhere), spread ? 1 : 0);
  }
  layout.measure();
}

/**
 * Spreads whole items of groups that exceed their limits, in runs of neighbours in order of work. The run that relieves a group
 * most for its cost comes first; the loop ends when no group exceeds a limit, or nothing helps.
 */
export function spreadLayers(layout: GroupLayout): void {
  const { groups, top, cost, levels, budget } = layout.problem;
  const costs = cost[levels - 1]!;
  for (let group = 0; group < groups; group += 1) {
    for (let over = layout.measureGroup(group); over > slop; over = layout.measureGroup(group)) {
      if (budget.isSpent) return;
      const whole = layout.wholeOf(group).slice();
      let best: Int32Array | undefined;
      let rate = 0;
      for (let at = 0; at < whole.length; at += 1) {
        for (const count of [1, 2, 3, 4, top, 2 * top, whole.length - at]) {
          if (count > whole.length - at) continue;
          const run = whole.subarray(at, at + count);
          layout.turn(run, 1);
          const relieved = over - layout.measureGroup(group);
          layout.turn(run, 0);
          const price = run.reduce((sum, item) => sum + costs[item]!, 0);
          if (relieved <= slop || relieved <= rate * (price + slop)) continue;
          rate = relieved / (price + slop);
          best = run.slice();
        }
      }
      if (best === undefined) break;
      layout.turn(best, 1);
    }
  }
  layout.measure();
}

/**
 * Spreads the items that do not fit on one device, and puts the others into groups in layers: as many neighbours in order of work
 * as a group has devices, because they load its devices nearly equally.
 *
 * @param fill - as for {@link construct}
 */
export function constructLayers(layout: GroupLayout, fill: number): void {
  const { items, groups, top, least, budget } = layout.problem;
  budget.spend(items * groups);
  layout.clear();
  const shares = new Shares(layout.problem);
  const whole: number[] = [];
  for (let item = 0; item < items; item += 1) {
    if (least[item]! > 0) layout.put(item, shares.give([item], fill), 1);
    else whole.push(item);
  }
  for (let at = 0; at < whole.length; at += top) {
    const layer = whole.slice(at, at + top);
    const group = shares.give(layer, nowhere);
    for (const item of layer) layout.put(item, group, 0);
  }
  layout.measure();
}

/** Converts a layout of devices to a layout of top groups; items at degrees in between count as spread. */
export function readGroups(layout: GroupLayout, { level, group, problem }: Layout): void {
  layout.clear();
  for (let item = 0; item < problem.items; item += 1) {
    const own = Math.floor((group[item]! * 2 ** level[item]!) / problem.top);
    layout.put(item, own, level[item]! > 0 ? 1 : 0);
  }
  layout.measure();
}
