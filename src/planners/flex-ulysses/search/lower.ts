/**
 * Plans of groups that have next to no room: what a top group shares is shared by its parts, each of them filled exactly, and then
 * becomes whole in layers, one item on each device, as far as the room allows.
 */
import { type Layout, peakOf } from './layout.ts';
import { finely, partition } from './partition.ts';
import { slop } from './problem.ts';

/**
 * Tries for each number of items that stay at the top, each with the others dealt out in another order; and tries for a top group.
 * With neighbouring orders, 1 of the 56 batches without tolerance in bench/flex-ulysses/alike.ts stayed at 4.4 times the best known.
 */
const attempts = 8;
const mostTries = 40;

const total = (sizes: Float64Array, items: readonly number[]): number =>
  items.reduce((sum, item) => sum + sizes[item]!, 0);

/** Puts items, most work first, onto groups, each onto the one with least work of these items. */
function dealOut(layout: Layout, list: readonly number[], level: number, first: number, count: number): void {
  const loads = new Float64Array(count);
  for (const item of list) {
    const to = loads.indexOf(loads.reduce((least, one) => Math.min(least, one)));
    loads[to]! += layout.problem.work[item]!;
    layout.put(item, level, first + to);
  }
}

/** Lets each top group that shares all of its items share as many of them as possible at a lower level. */
export function lowerTop(layout: Layout, level: number): void {
  const { items, levels, groups, top, budget } = layout.problem;
  const parts = top >> level;
  if (parts === 1) return;
  for (let group = 0; group < groups; group += 1) {
    const members = Array.from({ length: items }, (_, item) => item).filter(
      (item) => layout.level[item] === levels - 1 && layout.group[item] === group,
    );
    const { length } = members;
    const lower = (): boolean => {
      let tries = mostTries;
      for (let kept = 0; kept < length; kept += 1) {
        // Parts with equal numbers of items can be filled exactly; others only where there is room.
        for (let attempt = 0; attempt < ((length - kept) % parts === 0 ? attempts : 1); attempt += 1) {
          if (budget.isSpent || tries-- === 0) return false;
          const stays = new Uint8Array(length);
          for (let one = 0; one < kept; one += 1)
            stays[(Math.floor((one * length) / kept) + attempt * (1 + one)) % length] = 1;
          members.forEach((item, at) => {
            if (stays[at] === 1) layout.put(item, levels - 1, group);
          });
          const lowered = members.filter((_, at) => stays[at] === 0);
          budget.spend(length * parts);
          const turn = Math.floor((attempt * lowered.length) / attempts);
          const turned = [...lowered.slice(turn), ...lowered.slice(0, turn)];
          dealOut(layout, turned, level, group * parts, parts);
          if (partition(layout, level, finely, group * parts, parts)) return true;
        }
      }
      return false;
    };
    if (!lower()) for (const item of members) layout.put(item, levels - 1, group);
  }
}

/** Items that are neighbours in order of work, and the room that they waste: by how much they are below the longest. */
interface Window {
  readonly first: number;
  readonly waste: number;
}

/** Returns windows of so many items of a list that do not overlap, the most even first. */
function evenWindows(work: Float64Array, list: readonly number[], size: number): Window[] {
  const windows: Window[] = [];
  for (let first = 0; first + size <= list.length; first += 1)
    windows.push({ first, waste: size * work[list[first]!]! - total(work, list.slice(first, first + size)) });
  const taken = new Uint8Array(list.length);
  return windows
    .sort((a, b) => a.waste - b.waste || b.first - a.first)
    .filter(({ first }) => {
      if (taken[first] === 1 || taken[first + size - 1] === 1) return false;
      taken.fill(1, first, first + size);
      return true;
    });
}

/** Makes as many as possible of the items whole that each group shares: layers of nearly equal ones. */
export function layGroups(layout: Layout, level: number): void {
  const { items, devices, work, budget } = layout.problem;
  const size = 1 << level;
  const members = Array.from({ length: devices >> level }, (): number[] => []);
  for (let item = 0; item < items; item += 1)
    if (layout.level[item] === level) members[layout.group[item]!]!.push(item);
  for (const [group, list] of members.entries()) {
    const windows = evenWindows(work, list, size);
    const lay = (layers: readonly number[]): boolean => {
      budget.spend(list.length * size);
      for (const item of list) layout.put(item, level, group);
      for (const first of layers) {
        const ranks = Array.from({ length: size }, (_, rank) => group * size + rank);
        ranks.sort((a, b) => layout.work[a]! - layout.work[b]! || a - b);
        ranks.forEach((device, at) => {
          layout.put(list[first + at]!, 0, device);
        });
      }
      return peakOf(layout, level, group) <= 1 + slop;
    };
    for (let count = Math.floor(list.length / size); count >= 0; count -= 1) {
      const rest = list.length - count * size;
      const even = windows.slice(0, count).map(({ first }) => first);
      const side = (first: number): number[] => Array.from({ length: count }, (_, at) => first + at * size);
      if ([side(0), even, side(rest >> 1), side(rest)].some((layers) => layers.length === count && lay(layers))) break;
    }
  }
}
