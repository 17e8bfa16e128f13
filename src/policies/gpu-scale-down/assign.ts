/** Where the requests of released engines go: the largest first, always to the engine with most projected KV free. */
import { binOf } from '../../core/survival.ts';

/** An engine that remains, as a target. */
export interface Target {
  readonly place: number;
  /** Tokens of its KV cache that are expected to be free when all engines together hold most; may be negative. */
  free: number;
}

/** Requests in the order in which they move, and the place where each goes. */
export interface Assignment {
  readonly requests: Int32Array;
  readonly places: Int32Array;
}

/**
 * Deals requests out to targets. Requests of about the same weight are dealt as one: how many go to each target follows
 * from its free tokens, so that the cost does not depend on how many they are. Within them the order is kept, and the
 * first ones go to the first target. Ties go to the target that stands first.
 *
 * @param weights - expected tokens of each request at the time of the peak, in the order of the requests
 * @param targets - at least one; `free` is brought down by what they get
 */
export function assign(weights: Float64Array, targets: readonly Target[]): Assignment {
  const { requests, ends } = byWeight(weights);
  const places = new Int32Array(requests.length);
  let next = 0;
  for (const end of ends) {
    let sum = 0;
    for (let index = next; index < end; index += 1) sum += weights[requests[index]!]!;
    const shares = share(end - next, sum / (end - next), targets);
    for (let at = 0; at < targets.length; at += 1) {
      const target = targets[at]!;
      let { free } = target;
      for (const last = next + shares[at]!; next < last; next += 1) {
        free -= weights[requests[next]!]!;
        places[next] = target.place;
      }
      target.free = free;
    }
  }
  return { requests, places };
}

// What is heavier is taken to weigh this, to find its bin.
const heaviest = 2 ** 30;

/** Requests by the bin of their weight, the heaviest first, in their order within a bin; and where each bin ends. */
function byWeight(weights: Float64Array): { requests: Int32Array; ends: number[] } {
  const bins = new Uint16Array(weights.length);
  const counts = new Int32Array(binOf(heaviest) + 1);
  for (let request = 0; request < weights.length; request += 1) {
    const weight = weights[request]!;
    const bin = binOf(weight < heaviest ? (weight + 0.5) | 0 : heaviest);
    bins[request] = bin;
    counts[bin]! += 1;
  }
  const starts = new Int32Array(counts.length);
  const ends: number[] = [];
  let sum = 0;
  for (let bin = counts.length - 1; bin >= 0; bin -= 1) {
    starts[bin] = sum;
    sum += counts[bin]!;
    if (counts[bin]! > 0) ends.push(sum);
  }
  const requests = new Int32Array(weights.length);
  for (let request = 0; request < weights.length; request += 1) {
    const bin = bins[request]!;
    requests[starts[bin]!] = request;
    starts[bin]! += 1;
  }
  return { requests, ends };
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
  const order = free.map((_, index) => index).sort((a, b) => free[b]! - free[a]! || a - b);
  let sum = 0;
  let level = Number.NEGATIVE_INFINITY;
  let among = 0;
  for (const index of order) {
    if (among > 0 && free[index]! <= level) break;
    sum += free[index]!;
    among += 1;
    level = (sum - n * weight) / among;
  }
  let given = 0;
  for (let at = 0; at < among; at += 1) {
    const index = order[at]!;
    const count = Math.min(n - given, Math.max(0, Math.floor((free[index]! - level) / weight)));
    shares[index] = count;
    free[index]! -= count * weight;
    given += count;
  }
  return given;
}
