/** Layouts in layers: whole items as nearly equal as the room allows, one on each device of a group, and the others shared. */
import type { Layout } from './layout.ts';
import { finely, partition } from './partition.ts';
import { slop } from './problem.ts';

/** Items that are neighbours in order of work, and the room that they waste: by how much they are below the longest. */
interface Window {
  readonly first: number;
  readonly waste: number;
}

/** Returns windows of so many items that do not overlap, the most even first. */
function evenWindows(work: Float64Array, size: number): Window[] {
  const windows: Window[] = [];
  for (let first = 0; first + size <= work.length; first += 1) {
    let waste = 0;
    for (let at = first; at < first + size; at += 1) waste += work[first]! - work[at]!;
    windows.push({ first, waste });
  }
  const taken = new Uint8Array(work.length);
  return windows
    .sort((a, b) => a.waste - b.waste || b.first - a.first)
    .filter(({ first }) => {
      if (taken[first] === 1 || taken[first + size - 1] === 1) return false;
      taken.fill(1, first, first + size);
      return true;
    });
}

/** Returns how many of the windows waste no more than the limits leave. */
function affordable(windows: readonly Window[], room: number): number {
  let left = room;
  const end = windows.findIndex(({ waste }) => {
    left -= waste;
    return left < 0;
  });
  return end < 0 ? windows.length : end;
}

/** Puts layers and shared items onto groups, each where most room is left. */
function put(layout: Layout, level: number, layers: readonly Window[]): void {
  const { items, devices, work } = layout.problem;
  const size = 1 << level;
  const loads = new Float64Array(devices >> level);
  const give = (more: number): number => {
    const group = loads.indexOf(loads.reduce((least, one) => Math.min(least, one)));
    loads[group]! += more;
    return group;
  };
  layout.clear();
  const whole = new Uint8Array(items);
  for (const { first } of layers) {
    const group = give(size * work[first]!);
    for (let rank = 0; rank < size; rank += 1) layout.put(first + rank, 0, group * size + rank);
    whole.fill(1, first, first + size);
  }
  for (let item = 0; item < items; item += 1) if (whole[item] === 0) layout.put(item, level, give(work[item]!));
}

/**
 * Tries to place as many layers as the limits leave room for; then half as many, and so on to none.
 *
 * @param better - called with each layout that keeps the limits
 */
export function placeLayers(layout: Layout, level: number, better: () => void): void {
  const { items, devices, work, budget } = layout.problem;
  const room = devices * (1 + slop) - work.reduce((sum, one) => sum + one, 0);
  const windows = evenWindows(work, 1 << level);
  for (let count = affordable(windows, room); !budget.isSpent; count >>= 1) {
    budget.spend(items * (devices >> level));
    put(layout, level, windows.slice(0, count));
    if (partition(layout, level, finely)) return better();
    if (count === 0) return;
  }
}
