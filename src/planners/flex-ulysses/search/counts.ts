/** How many items a plan of nearly equal items has at each level, and a first layout with such counts. */
import { type Layout, leastPeaked, peakOf } from './layout.ts';

/** Which items are shared: the shortest cost least; items at equal distances leave whole items that are more even. */
export const choices = ['shortest', 'even'] as const;
type Choice = (typeof choices)[number];

/** Takes the items that are shared out of a list that is sorted by descending work. */
function takeShared(list: number[], count: number, choice: Choice): number[] {
  if (choice === 'shortest') return list.splice(list.length - count, count);
  const { length } = list;
  const chosen = new Uint8Array(length);
  for (let one = 0; one < count; one += 1) chosen[Math.floor(((one + 0.5) * length) / count)] = 1;
  const shared = list.filter((_, at) => chosen[at] === 1);
  list.splice(0, length, ...list.filter((_, at) => chosen[at] === 0));
  return shared;
}

/** The items that are shared, by level; all others are whole. */
export interface Counts {
  /** The level at which items are usually shared. */
  readonly level: number;
  readonly shared: number;
  /** Items at higher levels. */
  readonly higher: readonly { readonly level: number; readonly count: number }[];
}

/**
 * Takes the items with most work together that fit onto so many devices: neighbours in order of work, out of a list sorted by
 * descending work.
 */
function takeFitting(work: Float64Array, list: number[], count: number, room: number): number[] {
  let start = list.length - count;
  let sum = list.slice(start).reduce((total, item) => total + work[item]!, 0);
  for (; start > 0; start -= 1) {
    sum += work[list[start - 1]!]! - work[list[start - 1 + count]!]!;
    if (sum > room) break;
  }
  return list.splice(start, count);
}

/** Puts whole items onto devices in rounds, most work first, each round onto the devices with least work. */
function putRounds(layout: Layout, list: readonly number[], first: number, end: number): void {
  const count = end - first;
  for (let at = 0; at < list.length; at += count) {
    const devices = Array.from({ length: count }, (_, one) => first + one);
    devices.sort((a, b) => layout.work[a]! - layout.work[b]! || a - b);
    list.slice(at, at + count).forEach((item, one) => {
      layout.put(item, 0, devices[one]!);
    });
  }
}

/** Shares items among the first groups, the same number in each: the longest where whole items leave most room. */
function putShared(layout: Layout, list: readonly number[], level: number, groups: number): void {
  const peaks = Float64Array.from({ length: groups }, (_, group) => peakOf(layout, level, group));
  const order = Array.from(peaks.keys()).sort((a, b) => peaks[a]! - peaks[b]! || a - b);
  list.forEach((item, at) => {
    layout.put(item, level, order[Math.floor((at * groups) / list.length)]!);
  });
}

/**
 * Places items with the given counts: some devices have one whole item more than the others, and these
 * items are just short enough. In each round neighbours in order of work lie beside each other, as they load a group evenly.
 *
 * @returns whether there are so many items
 */
export function placeCounts(layout: Layout, { level, shared, higher }: Counts, choice: Choice): boolean {
  const { items, devices, work, budget } = layout.problem;
  budget.spend(items * layout.problem.groups);
  const above = higher.reduce((sum, { count }) => sum + count, 0);
  const whole = items - shared - above;
  if (whole < 0) return false;
  layout.clear();
  const list = Array.from({ length: items }, (_, item) => item);
  for (const { level: high, count } of higher)
    for (const item of list.splice(list.length - count, count)) layout.put(item, high, leastPeaked(layout, high));
  const each = Math.floor(whole / devices);
  const more = whole - each * devices;
  const wide = takeFitting(work, list, more * (each + 1), more);
  putRounds(layout, wide, devices - more, devices);
  const taken = takeShared(list, shared, choice);
  putRounds(layout, list, 0, devices - more);
  const groups = devices >> level;
  const narrow = Math.floor((devices - more) / 2 ** level);
  putShared(layout, taken, level, narrow === 0 ? groups : narrow);
  return true;
}
