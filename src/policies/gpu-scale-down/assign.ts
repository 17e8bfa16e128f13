/** Where the requests of released engines go: the largest first, always to the engine with most projected KV free. */
import { binOf } from '../../core/survival.ts';

/** An engine that remains, as a target. */
export interface Target {
  readonly place: number;
  /** Tokens of its KV cache that are expected to be free when all engines together hold most; may be negative. */
  free: number;
}

// What is heavier is taken to weigh this, to find its bin.
const heaviest = 2 ** 30;
const bins = binOf(heaviest) + 1;

/** Requests of about the same weight, by bin: how many they are, and what they weigh together. */
export class Weights {
  readonly counts = new Int32Array(bins);
  readonly sums = new Float64Array(bins);
}

/** The bin of a request, by its expected tokens at the time of the peak. */
export function weightBin(weight: number): number {
  return binOf(weight < heaviest ? (weight + 0.5) | 0 : heaviest);
}

/**
 * Deals requests out to targets. Requests of about the same weight are dealt as one: how many go to each target follows
 * from its free tokens, so that the cost does not depend on how many they are. Within them the first ones go to the
 * first target. Ties go to the target that stands first.
 *
 * @param targets - at least one; `free` is brought down by what they get
 * @param goesTo - in the order in which requests are dealt out, the target of each, as an index: written
 * @returns by bin, where its requests begin in that order
 */
export function assign({ counts, sums }: Weights, targets: readonly Target[], goesTo: Int32Array): Int32Array {
  const starts = new Int32Array(bins);
  let next = 0;
  for (let bin = bins - 1; bin >= 0; bin -= 1) {
    starts[bin] = next;
    const count = counts[bin]!;
    if (count === 0) continue;
    const weight = sums[bin]! / count;
    const shares = share(count, weight, targets);
    for (let at = 0; at < targets.length; at += 1) {
      const target = targets[at]!;
      target.free -= shares[at]! * weight;
      goesTo.fill(at, next, next + shares[at]!);
      next += shares[at]!;
    }
  }
  return starts;
}

/** How many of n equal requests each target gets if each goes to the one with most free. */
function share(n: number, weight: number, targets: readonly Target[]): number[] {
  const shares = targets.map(() => 0);
  const free = targets.map((target) => target.free);
  let left = n;
  if (weight > 0 && n > targets.length) left -= fill(n, weight, free, shares);
  for (; left > 0; left -= 1) {
    let most = 0;
    for (let index = 1; index < free.length; index += 1) if (free[index]! > free[most]!) most = index;
    shares[most]! += 1;
    free[most]! -= weight;
  }
  return shares;
}

/** Gives out all but a few: brings those with most free down to the level that n requests reach, rounded down. */
function fill(n: number, weight: number, free: number[], shares: number[]): number {
  let level = Number.NEGATIVE_INFINITY;
  // Those that lie under the level get nothing, and the level is that of the others: it rises until none lies under it.
  for (let before = -1; ; ) {
    let sum = 0;
    let among = 0;
    for (let index = 0; index < free.length; index += 1) {
      if (free[index]! <= level) continue;
      sum += free[index]!;
      among += 1;
    }
    if (among === before || among === 0) break;
    before = among;
    level = (sum - n * weight) / among;
  }
  let given = 0;
  for (let index = 0; index < free.length; index += 1) {
    const count = Math.min(n - given, Math.max(0, Math.floor((free[index]! - level) / weight)));
    shares[index] = count;
    free[index]! -= count * weight;
    given += count;
  }
  return given;
}
