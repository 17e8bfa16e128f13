/** Placements made in one pass, and how to mend them. */
import type { GroupLayout } from './group-layout.ts';
import { leastLoaded, none } from './group-layout.ts';
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/**
 * Most work first: some items are spread over top groups, the others whole on the least loaded device.
 *
 * @param spread - how many of the first items are spread; those that do not fit on one device are in any case
 * @param fill - up to which load spread items are put together into the fullest group that they fit in; beyond it, and
 *   with 0, they go to the least loaded one. Full groups leave others empty, for items that need a device alone.
 */
export function construct(layout: Layout, spread: number, fill: number): void {
  const { items, groups, top, levels, devices, work, memory, least } = layout.problem;
  const isSpread = (item: number): boolean => item < spread || least[item]! > 0;
  layout.clear();
  const loads = new Float64Array(groups);
  const tokens = new Float64Array(groups);
  for (let item = 0; item < items; item += 1) {
    if (!isSpread(item)) continue;
    let best = 0;
    let rank = Number.POSITIVE_INFINITY;
    for (let group = 0; group < groups; group += 1) {
      const load = Math.max(loads[group]! + work[item]! / top, tokens[group]! + memory[item]! / top);
      const one = load <= fill ? -load : load;
      if (one >= rank) continue;
      rank = one;
      best = group;
    }
    loads[best]! += work[item]! / top;
    tokens[best]! += memory[item]! / top;
    layout.put(item, levels - 1, best);
  }
  for (let item = 0; item < items; item += 1)
    if (!isSpread(item)) layout.put(item, 0, leastLoaded(layout, item, 0, devices));
}

/**
 * Puts every item into the group with least work so far, most work first; none is spread but those that must be.
 *
 * @param fill - as for {@link construct}
 */
export function constructGroups(layout: GroupLayout, fill: number): void {
  const { items, groups, top, work, memory, least } = layout.problem;
  layout.clear();
  const loads = new Float64Array(groups);
  const tokens = new Float64Array(groups);
  for (let item = 0; item < items; item += 1) {
    const spread = least[item]! > 0;
    let best = 0;
    let rank = Number.POSITIVE_INFINITY;
    for (let group = 0; group < groups; group += 1) {
      const load = Math.max(loads[group]! + work[item]! / top, tokens[group]! + memory[item]! / top);
      const one = spread && load <= fill ? -load : load;
      if (one >= rank) continue;
      rank = one;
      best = group;
    }
    loads[best]! += work[item]! / top;
    tokens[best]! += memory[item]! / top;
    layout.put(item, best, spread ? 1 : 0);
  }
  layout.measure();
}

/**
 * Spreads whole items of groups that are over their limits, in runs of neighbours in order of work, what relieves most
 * for its cost first, until no group is over or nothing helps.
 */
export function spreadLayers(layout: GroupLayout): void {
  const { groups, top, cost, levels } = layout.problem;
  const costs = cost[levels - 1]!;
  const turn = (run: Int32Array, group: number, to: number): void => {
    for (const item of run) {
      layout.take(item);
      layout.put(item, group, to);
    }
  };
  for (let group = 0; group < groups; group += 1) {
    for (let over = layout.measureGroup(group); over > slop; over = layout.measureGroup(group)) {
      const whole = layout.wholeOf(group).slice();
      let best: Int32Array | undefined;
      let rate = 0;
      for (let at = 0; at < whole.length; at += 1) {
        for (const count of [1, 2, 3, 4, top, 2 * top, whole.length - at]) {
          if (count > whole.length - at) continue;
          const run = whole.subarray(at, at + count);
          turn(run, group, 1);
          const relieved = over - layout.measureGroup(group);
          turn(run, group, 0);
          const price = run.reduce((sum, item) => sum + costs[item]!, 0);
          if (relieved <= slop || relieved <= rate * (price + slop)) continue;
          rate = relieved / (price + slop);
          best = run.slice();
        }
      }
      if (best === undefined) break;
      turn(best, group, 1);
    }
  }
  layout.measure();
}

/** Reads a layout of top groups out of one of devices; items at degrees between are taken for spread. */
export function readGroups(layout: GroupLayout, { level, group, problem }: Layout): void {
  layout.clear();
  for (let item = 0; item < problem.items; item += 1) {
    const own = Math.floor((group[item]! * 2 ** level[item]!) / problem.top);
    layout.put(item, own, level[item]! > none + 1 ? 1 : 0);
  }
  layout.measure();
}

/**
 * Spreads what does not fit on one device, and puts the others into groups by layers: as many neighbours in order of
 * work as a group has devices go together, as they load its devices nearly the same.
 *
 * @param fill - as for {@link construct}
 */
export function constructLayers(layout: GroupLayout, fill: number): void {
  const { items, groups, top, work, memory, least } = layout.problem;
  layout.clear();
  const loads = new Float64Array(groups);
  const tokens = new Float64Array(groups);
  const place = (from: readonly number[], spread: number): void => {
    const totalWork = from.reduce((sum, item) => sum + work[item]!, 0) / top;
    const totalMemory = from.reduce((sum, item) => sum + memory[item]!, 0) / top;
    let best = 0;
    let rank = Number.POSITIVE_INFINITY;
    for (let group = 0; group < groups; group += 1) {
      const load = Math.max(loads[group]! + totalWork, tokens[group]! + totalMemory);
      const one = spread === 1 && load <= fill ? -load : load;
      if (one >= rank) continue;
      rank = one;
      best = group;
    }
    loads[best]! += totalWork;
    tokens[best]! += totalMemory;
    for (const item of from) layout.put(item, best, spread);
  };
  const whole: number[] = [];
  for (let item = 0; item < items; item += 1) {
    if (least[item]! > 0) place([item], 1);
    else whole.push(item);
  }
  for (let at = 0; at < whole.length; at += top) place(whole.slice(at, at + top), 0);
  layout.measure();
}
