/** Plans for items that are nearly equal, with a few items on each device. */
import type { Problem } from './problem.ts';

/** A way to place nearly equal items on devices. */
export interface Shape {
  /** The level at which items are shared. */
  readonly level: number;
  /** Number of whole items on each device. */
  readonly each: number;
  /** Number of groups at that level in which every device has one whole item more, and which share no item. */
  readonly wide: number;
  /** Which items are shared: the shortest; items at equal distances; or the longest and the shortest. */
  readonly shared: 'shortest' | 'even' | 'ends';
  /** Number of shared items that are moved to a higher level, by level. */
  readonly higher: readonly { readonly level: number; readonly count: number }[];
}

/** All ways to choose the shared items, the most promising first. */
const choices: readonly Shape['shared'][] = ['shortest', 'even', 'ends'];
/** Numbers of wide groups to try, as shares of the most that counting allows. */
const shares = [1, 0.9, 0.75, 0.5];

/** Returns the levels worth using: the cheapest level, then the cheapest above it, and so on. */
export function ladder({ cost, levels }: Problem): number[] {
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
 * @param above - least number of items above each level
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

/** Items are nearly equal if the largest work is at most this many times the smallest. */
const nearly = 2;
/** Devices with more items than this are filled well in any order. */
const mostEach = 12;

/** Whether all items are nearly equal. */
export function areAlike({ items, work }: Problem): boolean {
  return items > 0 && work[0]! <= nearly * work[items - 1]!;
}

/** Whether all items are nearly equal, and devices have few of them. */
export function isAlike(problem: Problem): boolean {
  return problem.levels > 1 && problem.items <= mostEach * problem.devices && areAlike(problem);
}
