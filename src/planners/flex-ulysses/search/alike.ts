/** Plans of items that are nearly the same, a few on each device. */
import type { Problem } from './problem.ts';

/** A way to put items that are nearly the same onto devices. */
export interface Shape {
  /** The level at which items are shared. */
  readonly level: number;
  /** Whole items of a device. */
  readonly each: number;
  /** Groups of that level of which every device has one more, and which share nothing. */
  readonly wide: number;
  /**
   * Which items are shared: 0 the longest, 1 the shortest, between: in between; `even`: one in so many; `ends`: the
   * longest and the shortest.
   */
  readonly shared: number | 'even' | 'ends';
  /** Shared items that are at a higher level instead, by level. */
  readonly higher: readonly { readonly level: number; readonly count: number }[];
}

/** All choices, the most promising first. */
export const choices: readonly Shape['shared'][] = [1, 'even', 'ends', 0.5, 0.25];
/** Shares of the groups that counting allows to be wide. */
const shares = [1, 0.9, 0.75, 0.5];

/** Returns the levels that are worth it: the cheapest one, the cheapest above it, and so on. */
function ladder({ cost, levels }: Problem): number[] {
  const sums = cost.map((one) => one.reduce((sum, more) => sum + more, 0));
  const found: number[] = [];
  for (let level = 1; level < levels; level += 1) {
    for (let above = level + 1; above < levels; above += 1) if (sums[above]! <= sums[level]!) level = above;
    found.push(level);
  }
  return found;
}

/**
 * Returns the shapes of plans that share as few items as counting allows, and a little more.
 *
 * @param above - by level: so many items are above it at least
 */
export function shapesFor(problem: Problem, above: readonly number[]): Shape[] {
  const { items, devices } = problem;
  const [level = 0, ...others] = ladder(problem);
  const size = 1 << level;
  const whole = items - above[0]!;
  const each = Math.floor(whole / devices);
  const more = whole - each * devices;
  const higher = others
    .map((one, at) => ({ level: one, count: above[at === 0 ? level : others[at - 1]!]! - above[one]! }))
    .filter(({ count }) => count > 0)
    .reverse();
  const shapes: Shape[] = [];
  const most = Math.floor(more / size);
  for (const wide of new Set(shares.map((share) => Math.floor(most * share))))
    for (const shared of choices) shapes.push({ level, each, wide, shared, higher });
  return shapes;
}

/** Items are nearly the same if the one with most work has at most this many times the work of the one with least. */
const nearly = 2;
/** Devices with more items than this are filled well in any order. */
const mostEach = 12;

/** Whether all items are nearly the same. */
export function areAlike({ items, work }: Problem): boolean {
  return items > 0 && work[0]! <= nearly * work[items - 1]!;
}

/** Whether all items are nearly the same, and devices have few of them. */
export function isAlike(problem: Problem): boolean {
  return problem.levels > 1 && problem.items <= mostEach * problem.devices && areAlike(problem);
}
