/**
 * Plans a choice of engines: the targets of requests, and the fill of the engines that remain. The largest requests of released
 * engines are dealt out first, always to the engine with the most projected free KV.
 */

import type { Message } from '../../schemas/messages.ts';
import { groupBits, type Loads, orderByEngine, type Report } from './columns.ts';
import type { Outlook } from './outlook.ts';
import { fillTogether } from './peak.ts';
import type { ScaleDownState } from './state.ts';
import { binOf } from './survival.ts';

type RejectReason = Message<'scale-down.rejected'>['reason'];

/** Engines to release, and the expected use of the other engines. */
export interface Plan {
  /** Indices of the engines to release, of the remaining engines, and of those remaining engines that take requests. */
  readonly chosen: readonly number[];
  readonly keep: readonly number[];
  readonly open: readonly number[];
  /** Number of requests that move; the columns of the report hold them. */
  readonly moving: number;
  /** Projected free KV of each engine at its peak, by index; 0 for released engines. */
  readonly free: number[];
  /** The engine that is filled most. */
  readonly fullest: { engineId: string; projectedTokens: number; capacityTokens: number };
}

// A product of doubles may have this relative error, so the quotient is rounded up.
const exact = 1 - 1e-12;
const groupMask = (1 << groupBits) - 1;

/** Deals out the requests that leave their engines to targets, and adds them to the loads; returns the number of these requests. */
function deal(report: Report, loads: Loads, leaves: Int32Array, targets: Target[], outlook: Outlook): number {
  const { requests, columns } = report;
  const { cells, kvTokens, rows, bins, from, to, pairs, targets: goesTo, engineIndices } = columns;
  const targetEngines = Int32Array.from(targets, (target) => target.engineIndex);
  const weights = new Weights();
  const { counts, sums } = weights;
  const { chanceThen, grownThen } = outlook;
  let size = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const cell = cells[index]!;
    engineIndices[index] = cell >> groupBits;
    if (cell < 0 || leaves[cell >> groupBits] === 0) continue;
    rows[size] = index;
    const group = cell & groupMask;
    const weight = chanceThen[group]! * (kvTokens[index]! + grownThen[group]!);
    const bin = weightBin(weight);
    bins[size] = bin;
    counts[bin]! += 1;
    sums[bin]! += weight;
    size += 1;
  }
  const starts = assign(weights, targets, goesTo);
  for (let row = 0; row < size; row += 1) {
    const index = rows[row]!;
    const bin = bins[row]!;
    const position = starts[bin]!;
    starts[bin] = position + 1;
    const target = goesTo[position]!;
    const cell = cells[index]!;
    const [left, engineIndex] = [cell >> groupBits, targetEngines[target]!];
    from[row] = left;
    to[row] = engineIndex;
    engineIndices[index] = engineIndex;
    pairs[row] = (leaves[left]! - 1) * targetEngines.length + target;
    loads.take(engineIndex, cell & groupMask, kvTokens[index]!);
  }
  return size;
}

/** Plans a choice of engines, or returns the reason against it. With a fixed fraction, every choice is released. */
export function planFor(
  state: ScaleDownState,
  report: Report,
  outlook: Outlook,
  chosen: readonly number[],
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const { topology, config, status } = state;
  const { engines } = topology;
  // For each leaving engine: its number, from 1.
  const leaves = new Int32Array(engines.length);
  for (const [at, engineIndex] of chosen.entries()) leaves[engineIndex] = at + 1;
  const keep: number[] = [];
  for (let engineIndex = 0; engineIndex < engines.length; engineIndex += 1)
    if (!leaves[engineIndex] && status[engineIndex] !== 'lost') keep.push(engineIndex);
  const open = keep.filter((engineIndex) => status[engineIndex] === 'up');
  if (open.length === 0) return { code: 'no_target', engines: keep.length };
  let room = 0;
  for (const engineIndex of keep) room += engines[engineIndex]!.capacityTokens;
  const isAdaptive = config.trigger === 'adaptive';
  // If even the expected total exceeds the total capacity, no placement fits.
  const expectedTokens = Math.ceil(outlook.expectedTokens * exact);
  if (isAdaptive && expectedTokens > room)
    return { code: 'kv_cache_together', ...progress, expectedTokens, capacityTokens: room };
  const loads = report.loads.copy();
  const targets: Target[] = open.map((engineIndex) => ({
    engineIndex,
    free: engines[engineIndex]!.capacityTokens - outlook.mean(loads, engineIndex),
  }));
  const moving = deal(report, loads, leaves, targets, outlook);
  const { columns } = report;
  const starts = orderByEngine(columns, outlook.requests, engines.length);
  const capacities = keep.map((engineIndex) => engines[engineIndex]!.capacityTokens);
  const { fill, peaks } = fillTogether(
    keep.map((engineIndex) =>
      outlook.moments(loads, engineIndex, columns.spare.subarray(starts[engineIndex]!, starts[engineIndex + 1]!)),
    ),
    capacities,
    config.quantile,
  );
  const free = engines.map(() => 0);
  let most = 0;
  for (let index = 0; index < keep.length; index += 1) {
    free[keep[index]!] = capacities[index]! - Math.ceil(peaks[index]! * exact);
    if (peaks[index]! * capacities[most]! > peaks[most]! * capacities[index]!) most = index;
  }
  const { engineId, capacityTokens } = engines[keep[most]!]!;
  const projectedTokens = Math.ceil(fill * capacityTokens * exact);
  const fullest = { engineId, projectedTokens, capacityTokens };
  if (isAdaptive && projectedTokens > capacityTokens) return { code: 'kv_cache', ...progress, ...fullest };
  return { chosen, keep, open, moving, free, fullest };
}

/** An engine that remains, as a target. */
export interface Target {
  readonly engineIndex: number;
  /** KV cache tokens expected to be free at the time when all engines together hold most; may be negative. */
  free: number;
}

// Heavier requests get the bin for this weight.
const heaviest = 2 ** 30;
const bins = binOf(heaviest) + 1;

/** Number and total weight of requests, by bin of about the same weight. */
export class Weights {
  readonly counts = new Int32Array(bins);
  readonly sums = new Float64Array(bins);
}

/** Returns the bin of a request, by its expected tokens at the time of the peak. */
export function weightBin(weight: number): number {
  return binOf((Math.min(weight, heaviest) + 0.5) | 0);
}

/**
 * Deals requests out to targets. Requests with about the same weight are dealt together: the free tokens of a target determine
 * how many it gets, so that the cost does not depend on the number of requests. Within a bin, the first requests go to the first
 * target. Ties go to the first target.
 *
 * @param targets - at least one; the function reduces `free` by the tokens that a target gets
 * @param goesTo - output: index of the target of each request, in the order in which requests are dealt out
 * @returns for each bin, the index at which its requests begin in that order
 */
export function assign({ counts, sums }: Weights, targets: readonly Target[], goesTo: Int32Array): Int32Array {
  const starts = new Int32Array(bins);
  // Each bin starts with the order from the bin before, which is nearly sorted.
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
 * Returns how many requests each target gets if n equal requests go one by one to the target with the most free tokens. Each
 * target gets as many as bring it to the common level, rounded down; the remaining requests go to the targets that then have
 * most.
 *
 * @param order - all targets, in any order; the function sorts it by free tokens
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
  // Free tokens are counted down from the target with most: with very large numbers, a sum would lose single tokens.
  const top = free[first]!;
  let sum = n * weight;
  let level = sum;
  let among = 1;
  // Targets at or below the level get nothing.
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
