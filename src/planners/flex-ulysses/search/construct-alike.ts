/** Constructs placements of nearly equal items: whole ones in layers, shared ones by the room that is left in a group. */
import type { Shape } from './alike.ts';
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** Groups in which all items are shared are filled to at most this share, so that they can be evened out. */
const enough = 0.999;

const total = (sizes: Float64Array, items: readonly number[]): number =>
  items.reduce((sum, item) => sum + sizes[item]!, 0);

/**
 * Takes `count` neighbours out of a list: the longest ones whose work is at most the given share of the whole list.
 *
 * @param share - share of the work of the list, 0 to 1
 */
export function takeNeighbours(work: Float64Array, list: readonly number[], count: number, share: number) {
  const wanted = share * total(work, list);
  let sum = total(work, list.slice(0, count));
  let start = 0;
  for (; start + count < list.length && sum > wanted; start += 1)
    sum += work[list[start + count]!]! - work[list[start]!]!;
  return [list.slice(start, start + count), [...list.slice(0, start), ...list.slice(start + count)]] as [
    number[],
    number[],
  ];
}

/**
 * Deals lists out to receivers in rounds: the first list of a round goes to the receiver with the least work, the next to the
 * second least, and so on.
 *
 * @returns the receiver of each list
 */
export function deal(work: Float64Array, lists: readonly (readonly number[])[], count: number): number[] {
  const loads = new Float64Array(count);
  const chosen: number[] = [];
  for (let at = 0; at < lists.length; at += count) {
    const order = Array.from(loads.keys()).sort((a, b) => loads[a]! - loads[b]! || a - b);
    lists.slice(at, at + count).forEach((list, one) => {
      chosen.push(order[one]!);
      loads[order[one]!]! += total(work, list);
    });
  }
  return chosen;
}

function inLayers(list: readonly number[], size: number): (readonly number[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}

/**
 * Puts whole items onto groups in layers: as many neighbours in order of work as a group has devices, because they load its devices
 * nearly equally.
 */
function putLayers(layout: Layout, list: readonly number[], level: number, from: number, to: number): void {
  const size = 1 << level;
  const layers = inLayers(list, size);
  const groups = deal(layout.problem.work, layers, to - from);
  layers.forEach((layer, at) => {
    const first = (from + groups[at]!) * size;
    const devices = layer.map((_, rank) => first + rank).sort((a, b) => layout.work[a]! - layout.work[b]! || a - b);
    layer.forEach((item, rank) => {
      layout.put(item, 0, devices[rank]!);
    });
  });
}

/** Returns the load of the most loaded device in each group. */
function peaksOf(layout: Layout, level: number, from: number, to: number): Float64Array {
  const peaks = new Float64Array(to - from);
  for (let device = from << level; device < to << level; device += 1) {
    const group = (device >> level) - from;
    peaks[group] = Math.max(peaks[group]!, layout.load(device));
  }
  return peaks;
}

/** Puts items at a level, each on the group whose most loaded device has the least load. */
function putShared(layout: Layout, list: readonly number[], level: number, from: number, to: number): void {
  const { work } = layout.problem;
  const peaks = peaksOf(layout, level, from, to);
  for (const item of list) {
    let best = 0;
    for (let group = 1; group < peaks.length; group += 1) if (peaks[group]! < peaks[best]!) best = group;
    layout.put(item, level, from + best);
    peaks[best]! += work[item]! / (1 << level);
  }
}

/** Takes `count` items out of a list, those that fill a room best; the list is sorted by descending work. */
function takeFitting(work: Float64Array, list: number[], count: number, room: number): number[] {
  let start = 0;
  let sum = total(work, list.slice(0, count));
  for (; start + count < list.length && sum > room; start += 1)
    sum += work[list[start + count]!]! - work[list[start]!]!;
  const indices = Array.from({ length: count }, (_, at) => start + at);
  // Longer items replace some items as far as there is room.
  for (let at = 0; at < count; at += 1) {
    const lowest = at === 0 ? 0 : indices[at - 1]! + 1;
    let index = indices[at]!;
    while (index > lowest && sum + work[list[index - 1]!]! - work[list[indices[at]!]!]! <= room) index -= 1;
    sum += work[list[index]!]! - work[list[indices[at]!]!]!;
    indices[at] = index;
  }
  const taken = indices.map((index) => list[index]!);
  for (const index of indices.reverse()) list.splice(index, 1);
  return taken;
}

/**
 * Puts equal numbers of items at a level on each group, choosing items that fill the group best. Groups whose room differs most
 * from the mean come first.
 */
function putFitting(layout: Layout, list: readonly number[], level: number, from: number, to: number): void {
  const { work } = layout.problem;
  const rooms = peaksOf(layout, level, from, to).map((peak) => (1 - peak) * (1 << level));
  const usual = total(work, list) / rooms.length;
  const left = [...list];
  const groups = Array.from(rooms.keys()).sort(
    (a, b) => Math.abs(rooms[b]! - usual) - Math.abs(rooms[a]! - usual) || a - b,
  );
  groups.forEach((group, at) => {
    const count = Math.ceil(left.length / (groups.length - at));
    for (const item of takeFitting(work, left, count, rooms[group]!)) layout.put(item, level, from + group);
  });
}

/** Returns, for each item of a list, 1 if it is shared, else 0. */
function choose(length: number, shared: number, which: Shape['shared']): Uint8Array {
  const chosen = new Uint8Array(length);
  if (which === 'even')
    for (let one = 0; one < shared; one += 1) chosen[Math.floor(((one + 0.5) * length) / shared)] = 1;
  else {
    const first = which === 'ends' ? shared >> 1 : 0;
    chosen.fill(1, 0, first);
    chosen.fill(1, length - shared + first);
  }
  return chosen;
}

/** Puts items onto groups: a fixed number of whole items on each device, and the others shared. */
function putGroups(
  layout: Layout,
  list: readonly number[],
  each: number,
  from: number,
  to: number,
  level: number,
  shared: Shape['shared'],
): void {
  if (from === to) return;
  const count = Math.max(0, list.length - each * ((to - from) << level));
  const chosen = choose(list.length, count, shared);
  const of = (one: number): number[] => list.filter((_, at) => chosen[at] === one);
  putLayers(layout, of(0), level, from, to);
  if (count > 0) (each === 1 ? putFitting : putShared)(layout, of(1), level, from, to);
}

/** Whether no device of a group is over a limit. */
function fitsGroup(layout: Layout, level: number, group: number): boolean {
  for (let device = group << level; device < (group + 1) << level; device += 1)
    if (layout.load(device) > 1 + slop) return false;
  return true;
}

/** Returns the items of each group at a level, most work first, without items at higher levels. */
function membersOf({ problem, level, group }: Layout, at: number): number[][] {
  const members = Array.from({ length: problem.devices >> at }, (): number[] => []);
  for (let item = 0; item < problem.items; item += 1)
    if (level[item]! <= at) members[(group[item]! << level[item]!) >> at]!.push(item);
  return members;
}

/**
 * Shares everything in groups that are over a limit. If the shared items do not fit into a group, they are dealt out among all
 * such groups and as many other groups as needed, groups with most room first.
 */
export function flatten(layout: Layout, level: number): void {
  const { devices, work } = layout.problem;
  const members = membersOf(layout, level);
  const loads = new Float64Array(members.length);
  for (let device = 0; device < devices; device += 1) loads[device >> level]! += layout.load(device) / (1 << level);
  const groups = Array.from(loads.keys());
  const over = groups.filter((group) => !fitsGroup(layout, level, group));
  for (const group of over) for (const item of members[group]!) layout.put(item, level, group);
  const pooled = over.filter((group) => !fitsGroup(layout, level, group));
  if (pooled.length === 0) return;
  const others = groups.filter((group) => !pooled.includes(group)).sort((a, b) => loads[a]! - loads[b]! || a - b);
  let sum = total(loads, pooled);
  for (const group of others) {
    if (sum <= pooled.length * enough) break;
    pooled.push(group);
    sum += loads[group]!;
  }
  const list = pooled.flatMap((group) => members[group]!).sort((a, b) => a - b);
  const dealt = deal(
    work,
    list.map((item) => [item]),
    pooled.length,
  );
  list.forEach((item, at) => {
    layout.put(item, level, pooled[dealt[at]!]!);
  });
}

/**
 * Places all items in the given shape.
 *
 * @returns whether there are enough items
 */
export function constructAlike(layout: Layout, shape: Shape): boolean {
  const { level, each, wide, shared, higher } = shape;
  const { items, devices, work } = layout.problem;
  const groups = devices >> level;
  const inWide = (each + 1) * (wide << level);
  let list = Array.from({ length: items }, (_, item) => item);
  if (items - inWide < each * (devices - (wide << level))) return false;
  layout.clear();
  const above = list.splice(items - higher.reduce((sum, { count }) => sum + count, 0));
  for (const { level: high, count } of higher) putShared(layout, above.splice(0, count), high, 0, devices >> high);
  let to = groups;
  if (wide > 0) {
    const [taken, others] = takeNeighbours(work, list, inWide, wide / groups);
    putGroups(layout, taken, each + 1, to - wide, to, level, shared);
    list = others;
    to -= wide;
  }
  if (to === 0) {
    putShared(layout, list, level, 0, groups);
    return true;
  }
  const less = to - (list.length - to * Math.floor(list.length / to));
  const [fewer, more] = takeNeighbours(work, list, less * Math.floor(list.length / to), less / to);
  putGroups(layout, fewer, each, 0, less, level, shared);
  putGroups(layout, more, each, less, to, level, shared);
  return true;
}
