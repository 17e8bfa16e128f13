/** Placements of items that are nearly the same: in layers, and by what is left over of a group. */
import { choices, type Shape } from './alike.ts';
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** Groups in which everything is shared are this full at most, so that they can be made even. */
const enough = 0.999;

const total = (sizes: Float64Array, items: readonly number[]): number =>
  items.reduce((sum, item) => sum + sizes[item]!, 0);

/**
 * Takes a number of neighbours out of a list, the longest that fill their part no more than the others fill theirs.
 *
 * @param part - of all that the list fills
 */
export function takeNeighbours(work: Float64Array, list: readonly number[], count: number, part: number) {
  const wanted = part * total(work, list);
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
 * Deals lists out, a round at a time: of each round, the first to whom has least.
 *
 * @returns for each list, who gets it
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

/** Puts whole items onto groups in layers of neighbours, as many as a group has devices, as these load them alike. */
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

/** Returns the load of the fullest device of each group. */
function peaksOf(layout: Layout, level: number, from: number, to: number): Float64Array {
  const peaks = new Float64Array(to - from);
  for (let device = from << level; device < to << level; device += 1) {
    const group = (device >> level) - from;
    peaks[group] = Math.max(peaks[group]!, layout.load(device));
  }
  return peaks;
}

/** Puts items at a level, each on the group whose fullest device has least. */
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

/** Takes some items out of a list that fill a room best, most work first. */
function takeFitting(work: Float64Array, list: number[], count: number, room: number): number[] {
  let start = 0;
  let sum = total(work, list.slice(0, count));
  for (; start + count < list.length && sum > room; start += 1)
    sum += work[list[start + count]!]! - work[list[start]!]!;
  const places = Array.from({ length: count }, (_, at) => start + at);
  // Longer items replace some of them, as far as there is room.
  for (let at = 0; at < count; at += 1) {
    const lowest = at === 0 ? 0 : places[at - 1]! + 1;
    let place = places[at]!;
    while (place > lowest && sum + work[list[place - 1]!]! - work[list[places[at]!]!]! <= room) place -= 1;
    sum += work[list[place]!]! - work[list[places[at]!]!]!;
    places[at] = place;
  }
  const taken = places.map((place) => list[place]!);
  for (const place of places.reverse()) list.splice(place, 1);
  return taken;
}

/** Puts as many items at a level on each group, those that fill it best: first where they must differ most from the mean. */
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

/** Whether each item of a list is one of those that are shared. */
function choose(length: number, shared: number, which: Shape['shared']): Uint8Array {
  const chosen = new Uint8Array(length);
  if (which === 'even')
    for (let one = 0; one < shared; one += 1) chosen[Math.floor(((one + 0.5) * length) / shared)] = 1;
  else if (which === 'ends') {
    chosen.fill(1, 0, shared >> 1);
    chosen.fill(1, length - shared + (shared >> 1));
  } else {
    const start = Math.round(which * (length - shared));
    chosen.fill(1, start, start + shared);
  }
  return chosen;
}

/** Puts items onto groups, a number of whole ones on each device, and shares the others. */
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

/** Returns the items of each group of a level, most work first; none that are above it. */
function membersOf({ problem, level, group }: Layout, at: number): number[][] {
  const members = Array.from({ length: problem.devices >> at }, (): number[] => []);
  for (let item = 0; item < problem.items; item += 1)
    if (level[item]! <= at) members[(group[item]! << level[item]!) >> at]!.push(item);
  return members;
}

/** Puts the items of each group so that as many as can be are whole; as they are, all shared, where that does not fit. */
export function layGroups(layout: Layout, level: number): void {
  for (const [group, members] of membersOf(layout, level).entries()) {
    const lay = (): boolean => {
      for (let each = members.length >> level; each > 0; each -= 1) {
        for (const shared of choices) {
          for (const item of members) layout.remove(item);
          putGroups(layout, members, each, group, group + 1, level, shared);
          if (fitsGroup(layout, level, group)) return true;
        }
      }
      return false;
    };
    if (!lay()) for (const item of members) layout.put(item, level, group);
  }
}

/**
 * Shares everything in groups that are over a limit. Where a group cannot hold that, its items are dealt out among such
 * groups and as many others as it takes, those with most room first.
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
  const places = deal(
    work,
    list.map((item) => [item]),
    pooled.length,
  );
  list.forEach((item, at) => {
    layout.put(item, level, pooled[places[at]!]!);
  });
}

/**
 * Puts all items as a shape says.
 *
 * @returns whether there are enough of them
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
