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
  return binOf((Math.min(weight, heaviest) + 0.5) | 0);
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
  // Kept from one bin to the next: it is nearly in order then.
  const order = targets.map((_, at) => at);
  let next = 0;
  for (let bin = bins - 1; bin >= 0; bin -= 1) {
    starts[bin] = next;
    const count = counts[bin]!;
    if (count === 0) continue;
    const weight = sums[bin]! / count;
    const shares = share(count, weight, targets, order);
    for (let at = 0; at < targets.length; at += 1) {
      targets[at]!.free -= shares[at]! * weight;
      goesTo.fill(at, next, next + shares[at]!);
      next += shares[at]!;
    }
  }
  return starts;
}

/**
 * How many of n equal requests each target gets if each goes to the one with most free: as many as bring it down to the
 * level that all of them together reach, rounded down, and what is missing goes to those that are then left with most.
 *
 * @param order - all targets, in any order; sorted by what they have free
 */
function share(n: number, weight: number, targets: readonly Target[], order: number[]): number[] {
  const shares = targets.map(() => 0);
  const free = targets.map((target) => target.free);
  const byFree = (a: number, b: number): number => free[b]! - free[a]! || a - b;
  const first = order.sort(byFree)[0]!;
  if (weight === 0) {
    shares[first] = n;
    return shares;
  }
  // Counted down from the one with most free: free tokens may be so many that single ones are lost in a sum of them.
  const top = free[first]!;
  let sum = n * weight;
  let level = sum;
  let among = 1;
  // Those that lie at the level or under it get nothing.
  for (; among < order.length && top - free[order[among]!]! < level; among += 1) {
    sum += top - free[order[among]!]!;
    level = sum / (among + 1);
  }
  let missing = n;
  for (let index = 0; index < among; index += 1) {
    const at = order[index]!;
    const count = Math.floor((level - (top - free[at]!)) / weight);
    shares[at] = count;
    free[at]! -= count * weight;
    missing -= count;
  }
  order.sort(byFree);
  for (let index = 0; index < missing; index += 1) shares[order[index]!]! += 1;
  return shares;
}
