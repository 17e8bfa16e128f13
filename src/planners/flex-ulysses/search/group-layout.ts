/**
 * A placement described by top groups: an item is spread over all devices of its group, or whole on one of them. The description
 * leaves the device of a whole item open: in the end, whole items go to the least loaded device in turn, most work first. So
 * there are far fewer placements to search than with devices, and no placement that is lost is much better.
 */
import { copyLoad, emptyLoad, type Load, weigh } from './group-load.ts';
import { type Layout, leastLoaded } from './layout.ts';
import type { Problem } from './problem.ts';

/** Stands for no item. */
export const none = -1;

const nothing = 0x7fffffff;
/** Stands for "too much" if the exact amount does not matter. */
const tooMuch = 1e9;

/** The group of each item, and whether the item is spread over the group. */
export class GroupLayout {
  readonly problem: Problem;
  readonly group: Int32Array;
  /** 1: spread over the whole group. */
  readonly spread: Uint8Array;
  /** The whole items of each group, by number, and their count. */
  readonly #whole: Int32Array[];
  readonly #count: Int32Array;
  /** Load of each group. */
  readonly loads: readonly Load[];
  overall = 0;
  cost = 0;
  /**
   * Extra weight of the excess in a group that would exceed its limits even with all items spread, because sharding cannot mend
   * such a group.
   */
  surplusWeight = 0;
  readonly #work: Float64Array;
  readonly #memory: Float64Array;

  constructor(problem: Problem) {
    const { items, groups, top } = problem;
    this.problem = problem;
    this.group = new Int32Array(items);
    this.spread = new Uint8Array(items);
    this.#whole = Array.from({ length: groups }, () => new Int32Array(16));
    this.#count = new Int32Array(groups);
    this.loads = Array.from({ length: groups }, emptyLoad);
    this.#work = new Float64Array(top);
    this.#memory = new Float64Array(top);
  }

  /** Returns the whole items of a group, by number. */
  wholeOf(group: number): Int32Array {
    return this.#whole[group]!.subarray(0, this.#count[group]!);
  }

  /** Puts an item that is in no group into a group. Does not update the peaks and `over`. */
  put(item: number, group: number, spread: number): void {
    this.group[item] = group;
    this.spread[item] = spread;
    this.#weigh(item, group, spread, 1);
    if (spread === 1) return;
    let list = this.#whole[group]!;
    let at = this.#count[group]!++;
    if (at === list.length) {
      const longer = new Int32Array(2 * at);
      longer.set(list);
      list = longer;
      this.#whole[group] = list;
    }
    for (; at > 0 && list[at - 1]! > item; at -= 1) list[at] = list[at - 1]!;
    list[at] = item;
  }

  /** Takes an item out of its group. Does not update the peaks and `over`. */
  take(item: number): void {
    const group = this.group[item]!;
    const spread = this.spread[item]!;
    this.#weigh(item, group, spread, -1);
    if (spread === 1) return;
    const list = this.#whole[group]!;
    const count = --this.#count[group]!;
    let at = 0;
    while (list[at] !== item) at += 1;
    for (; at < count; at += 1) list[at] = list[at + 1]!;
  }

  /** Spreads items over their group, or makes them whole. Does not update the peaks and `over`. */
  turn(items: Int32Array, spread: number): void {
    for (const item of items) {
      this.take(item);
      this.put(item, this.group[item]!, spread);
    }
  }

  #weigh(item: number, group: number, spread: number, sign: number): void {
    const { cost, levels } = this.problem;
    weigh(this.loads[group]!, this.problem, item, spread, sign);
    if (spread === 1) this.cost += sign * cost[levels - 1]![item]!;
  }

  /** Takes all items out of their groups. */
  clear(): void {
    this.#count.fill(0);
    const empty = emptyLoad();
    for (const load of this.loads) copyLoad(empty, load);
    this.cost = 0;
  }

  /**
   * Finds the peaks of a group, with its whole items placed on the least loaded device in turn, most work first.
   *
   * @param leaves - a whole item that leaves the group, or none
   * @param joins - a whole item that joins the group, or none
   * @param cut - a peak above this value may be replaced by any larger number
   */
  findPeaks(group: number, leaves: number, joins: number, cut: number, load: Load): void {
    const { work, memory, top } = this.problem;
    const workOf = this.#work;
    const memoryOf = this.#memory;
    workOf.fill(0);
    memoryOf.fill(0);
    const list = this.#whole[group]!;
    const count = this.#count[group]!;
    this.problem.budget.left -= (count + 1) * top;
    let next = joins === none ? nothing : joins;
    let peakWork = 0;
    let peakMemory = 0;
    for (let at = 0; ; ) {
      let item = at < count ? list[at]! : nothing;
      if (next < item) {
        item = next;
        next = nothing;
      } else if (item === nothing) break;
      else {
        at += 1;
        if (item === leaves) continue;
      }
      const itemWork = work[item]!;
      const itemMemory = memory[item]!;
      let device = 0;
      let least = Number.POSITIVE_INFINITY;
      for (let one = 0; one < top; one += 1) {
        const afterWork = workOf[one]! + itemWork;
        const afterMemory = memoryOf[one]! + itemMemory;
        const after = afterWork > afterMemory ? afterWork : afterMemory;
        if (after < least) {
          least = after;
          device = one;
        }
      }
      const afterWork = workOf[device]! + itemWork;
      const afterMemory = memoryOf[device]! + itemMemory;
      workOf[device] = afterWork;
      memoryOf[device] = afterMemory;
      if (afterWork > peakWork) peakWork = afterWork;
      if (afterMemory > peakMemory) peakMemory = afterMemory;
      if (peakWork > cut) break;
    }
    load.peakWork = peakWork;
    load.peakMemory = peakMemory;
  }

  /**
   * Returns by how much a group with this load is over its limits: the excess in work plus the excess in tokens of its most loaded
   * device.
   */
  overOf({ spreadWork, spreadMemory, wholeWork, wholeMemory, peakWork, peakMemory }: Load): number {
    const { top } = this.problem;
    const work = spreadWork / top + peakWork - 1;
    const memory = spreadMemory / top + peakMemory - 1;
    let over = (work > 0 ? work : 0) + (memory > 0 ? memory : 0);
    if (this.surplusWeight > 0) {
      const surplus = (spreadWork + wholeWork) / top - 1;
      const surplusMemory = (spreadMemory + wholeMemory) / top - 1;
      over += this.surplusWeight * ((surplus > 0 ? surplus : 0) + (surplusMemory > 0 ? surplusMemory : 0));
    }
    return over;
  }

  /** Computes the peaks and the excess of a group anew, and returns the excess. */
  measureGroup(group: number): number {
    const load = this.loads[group]!;
    this.findPeaks(group, none, none, tooMuch, load);
    load.over = this.overOf(load);
    return load.over;
  }

  /** Computes the peaks and the excess of all groups anew. */
  measure(): void {
    this.overall = 0;
    for (let group = 0; group < this.problem.groups; group += 1) this.overall += this.measureGroup(group);
  }

  /** Writes the placement to a layout of devices. */
  writeTo(layout: Layout): void {
    const { items, groups, top, levels } = this.problem;
    layout.clear();
    for (let item = 0; item < items; item += 1)
      if (this.spread[item] === 1) layout.put(item, levels - 1, this.group[item]!);
    for (let group = 0; group < groups; group += 1) {
      for (const item of this.wholeOf(group))
        layout.put(item, 0, leastLoaded(layout, item, group * top, (group + 1) * top));
    }
  }
}
