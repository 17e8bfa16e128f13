/** Puts items, longest first, into the least loaded bin: the common part of the baselines. */
import { Heap } from '../../../core/collections/heap.ts';

/**
 * Gives each item, in the given order, to the bin with the least load so far; ties go to the lowest bin.
 *
 * @param order - indices of the items
 * @param loads - load of each item, >= 0
 * @returns the bin of each item, by its index; takes O(n · log bins)
 */
export function leastLoaded(order: readonly number[], loads: Float64Array, bins: number): Int32Array {
  const heap = new Heap<{ readonly bin: number; readonly load: number }>((a, b) => a.load - b.load || a.bin - b.bin);
  for (let bin = 0; bin < bins; bin += 1) heap.push({ bin, load: 0 });
  const chosen = new Int32Array(loads.length);
  for (const item of order) {
    const { bin, load } = heap.pop()!;
    chosen[item] = bin;
    heap.push({ bin, load: load + loads[item]! });
  }
  return chosen;
}
