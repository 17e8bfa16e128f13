/** Finds the most even bins by trying all ways. */
import { type Problem, slop } from './problem.ts';

const budget = 2_000_000;

/** Items in bins. */
export interface Packed {
  readonly bin: Int32Array;
  /** The work of the fullest bin. */
  readonly most: number;
}

/**
 * Finds bins with the least possible work in the fullest bin, and with a second size of at most 1 per bin.
 *
 * @param most - work that the fullest bin must stay below
 * @returns the bins, if better ones were found, and whether all ways were tried
 */
export function exactBins(problem: Problem, most: number): { packed: Packed | undefined; complete: boolean } {
  const { items, devices, work, memory } = problem;
  const bin = new Int32Array(items);
  const loads = new Float64Array(devices);
  const tokens = new Float64Array(devices);
  const total = work.reduce((sum, one) => sum + one, 0);
  let packed: Packed | undefined;
  let limit = most;
  let left = budget;

  const place = (item: number, fullest: number): void => {
    left -= 1;
    if (left < 0 || fullest >= limit - slop) return;
    if (item === items) {
      packed = { bin: bin.slice(), most: fullest };
      limit = fullest;
      return;
    }
    // Empty bins come last and are all alike, so one of them is enough: each earlier item has filled at most one bin.
    for (let one = 0; one < Math.min(devices, item + 1); one += 1) {
      // Two bins with the same contents need only one try.
      if (one > 0 && loads[one] === loads[one - 1] && tokens[one] === tokens[one - 1]) continue;
      if (tokens[one]! + memory[item]! > 1 + slop) continue;
      const before = loads[one]!;
      const beforeTokens = tokens[one]!;
      loads[one] = before + work[item]!;
      tokens[one] = beforeTokens + memory[item]!;
      bin[item] = one;
      place(item + 1, Math.max(fullest, loads[one]!));
      loads[one] = before;
      tokens[one] = beforeTokens;
    }
  };
  place(0, total / devices);
  return { packed, complete: left >= 0 };
}
