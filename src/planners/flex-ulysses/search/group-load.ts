/** The load of a top group. An annealing computes and stores millions of such loads. */
import type { Problem } from './problem.ts';

/** The load of a top group. */
export interface Load {
  spreadWork: number;
  spreadMemory: number;
  wholeWork: number;
  wholeMemory: number;
  /** Most work and most tokens of whole items on one device. */
  peakWork: number;
  peakMemory: number;
  over: number;
}

/** Returns the load of a group without items. */
export const emptyLoad = (): Load => ({
  spreadWork: 0,
  spreadMemory: 0,
  wholeWork: 0,
  wholeMemory: 0,
  peakWork: 0,
  peakMemory: 0,
  over: 0,
});

/** Copies the fields of a load into another load, which is many times faster than `Object.assign`. */
export function copyLoad(from: Load, to: Load): void {
  to.spreadWork = from.spreadWork;
  to.spreadMemory = from.spreadMemory;
  to.wholeWork = from.wholeWork;
  to.wholeMemory = from.wholeMemory;
  to.peakWork = from.peakWork;
  to.peakMemory = from.peakMemory;
  to.over = from.over;
}

/**
 * Adds an item to a load, or removes it. Does not update the peaks and `over`.
 *
 * @param spread - 1 if the item is spread over the group, 0 if it is whole
 * @param sign - 1 to add the item, −1 to take it away
 */
export function weigh(load: Load, { work, memory }: Problem, item: number, spread: number, sign: number): void {
  if (spread === 1) {
    load.spreadWork += sign * work[item]!;
    load.spreadMemory += sign * memory[item]!;
  } else {
    load.wholeWork += sign * work[item]!;
    load.wholeMemory += sign * memory[item]!;
  }
}
