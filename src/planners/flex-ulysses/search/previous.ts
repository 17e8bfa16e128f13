/** Starts from an earlier plan, for a batch that has changed little. */

import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import { type Layout, leastLoaded, leastLoadedOf } from './layout.ts';
import { type Problem, slop } from './problem.ts';

/** If more than this share of items is sharded without need, the earlier plan was for lengths that have changed. */
const stray = 0.02;

type Previous = NonNullable<FlexUlyssesSettings['previous']>;

/**
 * Returns the level and group of an assignment if this problem has such a group: the group must be aligned, with an admissible
 * degree.
 */
function groupOf(
  { degree, devices }: Previous['assignments'][number],
  { problem }: Layout,
): { readonly level: number; readonly group: number } | undefined {
  const level = Math.log2(degree);
  const first = devices[0]!;
  if (!Number.isInteger(level) || level >= problem.levels || devices.length !== degree) return undefined;
  if (first % degree !== 0 || first + degree > problem.devices) return undefined;
  return { level, group: first / degree };
}

/** Returns the given level if the item fits on a device at this level; otherwise the cheapest level at which it fits. */
function levelFrom({ least, cheapest, cost }: Problem, item: number, level: number): number {
  let next = level;
  if (level < least[item]!) for (next = least[item]!; cost[next]![item]! > cheapest[item]!; ) next += 1;
  return next;
}

/**
 * Puts each item where its sequence was, at a higher degree if the item no longer fits there alone. A new item, or an item whose
 * former group does not exist here, goes to the least loaded device, whole if it fits.
 */
export function putPrevious(layout: Layout, { assignments }: Previous): void {
  const { problem } = layout;
  const itemOf = new Map(problem.sequence.map((sequence, item) => [sequence, item]));
  layout.clear();
  for (const assignment of assignments) {
    const item = itemOf.get(assignment.sequence);
    const former = groupOf(assignment, layout);
    if (item === undefined || former === undefined || layout.group[item]! >= 0) continue;
    const level = levelFrom(problem, item, former.level);
    layout.put(item, level, former.group >> (level - former.level));
  }
  for (let item = 0; item < problem.items; item += 1) {
    if (layout.group[item]! >= 0) continue;
    const device = leastLoaded(layout, item, 0, problem.devices);
    const level = levelFrom(problem, item, 0);
    layout.put(item, level, device >> level);
  }
}

/** Makes sharded items whole if they fit on one device, provided that there are few of them. */
export function lowerStrays(layout: Layout): void {
  const { items, least } = layout.problem;
  const strays: number[] = [];
  for (let item = 0; item < items; item += 1) if (layout.level[item]! > 0 && least[item] === 0) strays.push(item);
  if (strays.length > stray * items) return;
  for (const item of strays) {
    const degree = 2 ** layout.level[item]!;
    const first = layout.group[item]! * degree;
    layout.put(item, 0, leastLoaded(layout, item, first, first + degree));
  }
}

/** Returns the top groups with a device over a limit, and enough other groups for half of the usual room. */
function groupsToRebuild(layout: Layout): Set<number> {
  const { devices, groups, top } = layout.problem;
  const room = new Float64Array(groups);
  const chosen = new Set<number>();
  for (let device = 0; device < devices; device += 1) {
    const group = Math.floor(device / top);
    room[group]! += 1 - layout.load(device);
    if (layout.load(device) > 1 + slop) chosen.add(group);
  }
  const usual = room.reduce((sum, one) => sum + one, 0) / groups;
  let have = 0;
  for (const group of chosen) have += room[group]!;
  for (let group = 0; group < groups && chosen.size > 0 && have < (usual * chosen.size) / 2; group += 1) {
    if (chosen.has(group)) continue;
    chosen.add(group);
    have += room[group]!;
  }
  return chosen;
}

/** Places the whole items of overfull top groups anew, together with those of enough other groups. */
export function rebuild(layout: Layout): void {
  const { items, top } = layout.problem;
  const chosen = groupsToRebuild(layout);
  const whole: number[] = [];
  for (let item = 0; item < items; item += 1) {
    if (layout.level[item] !== 0 || !chosen.has(Math.floor(layout.group[item]! / top))) continue;
    whole.push(item);
    layout.remove(item);
  }
  const devices = Int32Array.from(
    [...chosen].flatMap((group) => Array.from({ length: top }, (_, rank) => group * top + rank)),
  );
  for (const item of whole) layout.put(item, 0, leastLoadedOf(layout, item, devices));
}
