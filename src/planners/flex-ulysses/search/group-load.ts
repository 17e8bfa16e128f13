/** What a top group has: numbers that an annealing drafts and keeps by the million. */

/** What a group would have. */
export interface Load {
  spreadWork: number;
  spreadMemory: number;
  wholeWork: number;
  wholeMemory: number;
  /** The most that whole items put on one device. */
  peakWork: number;
  peakMemory: number;
  over: number;
}

/** What a group without items has. */
export const emptyLoad = (): Load => ({
  spreadWork: 0,
  spreadMemory: 0,
  wholeWork: 0,
  wholeMemory: 0,
  peakWork: 0,
  peakMemory: 0,
  over: 0,
});

/** Copies a load into another; field by field, which is many times faster than `Object.assign`. */
export function copyLoad(from: Load, to: Load): void {
  to.spreadWork = from.spreadWork;
  to.spreadMemory = from.spreadMemory;
  to.wholeWork = from.wholeWork;
  to.wholeMemory = from.wholeMemory;
  to.peakWork = from.peakWork;
  to.peakMemory = from.peakMemory;
  to.over = from.over;
}
