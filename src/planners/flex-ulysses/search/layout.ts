/** A placement that the search changes, with its cost and the loads of its devices. */
import { type Problem, slop } from './problem.ts';

/** A copy of a layout. */
export interface LayoutCopy {
  readonly level: Uint8Array;
  readonly group: Int32Array;
  readonly cost: number;
}

/** The place of each item of a problem, and the resulting loads and cost. */
export class Layout {
  readonly problem: Problem;
  readonly level: Uint8Array;
  readonly group: Int32Array;
  /** Compute and tokens of each device; the limits are 1. */
  readonly work: Float64Array;
  readonly memory: Float64Array;
  cost = 0;

  constructor(problem: Problem) {
    this.problem = problem;
    this.level = new Uint8Array(problem.items);
    this.group = new Int32Array(problem.items).fill(-1);
    this.work = new Float64Array(problem.devices);
    this.memory = new Float64Array(problem.devices);
  }

  /** Takes all items off their groups. */
  clear(): void {
    this.group.fill(-1);
    this.work.fill(0);
    this.memory.fill(0);
    this.cost = 0;
  }

  /** Puts an item on a group, and takes it off its former group, if any. */
  put(item: number, level: number, group: number): void {
    if (this.group[item]! >= 0) this.#add(item, -1);
    this.level[item] = level;
    this.group[item] = group;
    this.#add(item, 1);
  }

  /** Takes an item off its group. */
  remove(item: number): void {
    this.#add(item, -1);
    this.group[item] = -1;
  }

  #add(item: number, sign: number): void {
    const { work, memory, cost } = this.problem;
    const level = this.level[item]!;
    const degree = 2 ** level;
    const first = this.group[item]! * degree;
    const share = (sign * work[item]!) / degree;
    const tokens = (sign * memory[item]!) / degree;
    for (let device = first; device < first + degree; device += 1) {
      this.work[device]! += share;
      this.memory[device]! += tokens;
    }
    this.cost += sign * cost[level]![item]!;
  }

  /** Returns the larger of a device's two loads. */
  load(device: number): number {
    return Math.max(this.work[device]!, this.memory[device]!);
  }

  /** Sums the excess over the limits for all devices. */
  over(): number {
    let over = 0;
    for (let device = 0; device < this.problem.devices; device += 1) over += Math.max(0, this.load(device) - 1);
    return over;
  }

  /** Whether no device is over a limit. */
  fits(): boolean {
    for (let device = 0; device < this.problem.devices; device += 1) if (this.load(device) > 1 + slop) return false;
    return true;
  }

  /** Returns a copy of the layout. */
  keep(): LayoutCopy {
    return { level: this.level.slice(), group: this.group.slice(), cost: this.cost };
  }

  restore({ level, group }: LayoutCopy): void {
    this.clear();
    for (let item = 0; item < this.problem.items; item += 1) this.put(item, level[item]!, group[item]!);
  }
}

/** Returns the device that has the least load with the item on it; ties go to the first. */
export function leastLoadedOf(layout: Layout, item: number, devices: Iterable<number>): number {
  let device = -1;
  let least = Number.POSITIVE_INFINITY;
  const { work, memory } = layout.problem;
  for (const one of devices) {
    const after = Math.max(layout.work[one]! + work[item]!, layout.memory[one]! + memory[item]!);
    if (after >= least) continue;
    least = after;
    device = one;
  }
  return device;
}

/** Returns the device of a range that has the least load with the item on it; ties go to the first. */
export function leastLoaded(layout: Layout, item: number, from: number, to: number): number {
  const { work, memory } = layout.problem;
  let device = from;
  let least = Number.POSITIVE_INFINITY;
  for (let one = from; one < to; one += 1) {
    const after = Math.max(layout.work[one]! + work[item]!, layout.memory[one]! + memory[item]!);
    if (after >= least) continue;
    least = after;
    device = one;
  }
  return device;
}

/** Returns the load of the most loaded device of a group. */
export function peakOf(layout: Layout, level: number, group: number): number {
  let peak = 0;
  for (let device = group << level; device < (group + 1) << level; device += 1)
    peak = Math.max(peak, layout.load(device));
  return peak;
}

/** Returns the group of a level whose most loaded device has the least load; ties go to the first. */
export function leastPeaked(layout: Layout, level: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let group = 0; group < layout.problem.devices >> level; group += 1) {
    const peak = peakOf(layout, level, group);
    if (peak >= least) continue;
    least = peak;
    best = group;
  }
  return best;
}
