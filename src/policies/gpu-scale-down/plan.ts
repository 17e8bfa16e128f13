/** What a choice of engines leads to: where requests go, and how full the engines that remain get. */
import { assign, type Target, Weights, weightBin } from './assign.ts';
import { orderByPlace } from './ends.ts';
import { groupBits, type Loads, type Report } from './load.ts';
import type { Outlook } from './outlook.ts';
import { fillTogether } from './peak.ts';
import type { ScaleDownState } from './state.ts';
import type { DecisionOf } from './words.ts';

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

/** Engines to release, and what becomes of the others. */
export interface Plan {
  /** Places of the engines to release, of those that remain, and of those of these that take requests. */
  readonly chosen: readonly number[];
  readonly keep: readonly number[];
  readonly open: readonly number[];
  /** How many requests move; they stand in the report's columns. */
  readonly moving: number;
  /** Projected free KV of each engine at its peak, by place; 0 for those released. */
  readonly free: number[];
  /** The engine that is filled most. */
  readonly fullest: { engineId: string; projectedTokens: number; capacityTokens: number };
}

// A product of doubles may be off by so much of itself, and is rounded up.
const exact = 1 - 1e-12;
const inPlace = (1 << groupBits) - 1;

/** Deals the requests that leave their engines out to targets, and adds them to the loads; how many they are. */
function deal(report: Report, loads: Loads, leaves: Int32Array, targets: Target[], outlook: Outlook): number {
  const { requests, columns } = report;
  const { cells, kvTokens, rows, bins, from, to, pairs, targets: goesTo, places: placeOf } = columns;
  const places = Int32Array.from(targets, (target) => target.place);
  const weights = new Weights();
  const { counts, sums } = weights;
  const { chanceThen, grownThen } = outlook;
  let size = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const cell = cells[index]!;
    placeOf[index] = cell >> groupBits;
    if (cell < 0 || leaves[cell >> groupBits] === 0) continue;
    rows[size] = index;
    const group = cell & inPlace;
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
    const [left, place] = [cell >> groupBits, places[target]!];
    from[row] = left;
    to[row] = place;
    placeOf[index] = place;
    pairs[row] = (leaves[left]! - 1) * places.length + target;
    loads.take(place, cell & inPlace, kvTokens[index]!);
  }
  return size;
}

/** The plan for a choice of engines, or why it is none. With a fixed fraction whatever is chosen is released. */
export function planFor(
  state: ScaleDownState,
  report: Report,
  outlook: Outlook,
  chosen: readonly number[],
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const { topology, config, status } = state;
  const { engines } = topology;
  // Which of those that leave it is, from 1.
  const leaves = new Int32Array(engines.length);
  for (const [at, place] of chosen.entries()) leaves[place] = at + 1;
  const keep: number[] = [];
  for (let place = 0; place < engines.length; place += 1)
    if (!leaves[place] && status[place] !== 'lost') keep.push(place);
  const open = keep.filter((place) => status[place] === 'up');
  if (open.length === 0) return { code: 'no_target', engines: keep.length };
  let room = 0;
  for (const place of keep) room += engines[place]!.capacityTokens;
  const isAdaptive = config.trigger === 'adaptive';
  // Where not even the mean of all fits into all, no placement does.
  const expectedTokens = Math.ceil(outlook.expectedTokens * exact);
  if (isAdaptive && expectedTokens > room)
    return { code: 'kv_cache_together', ...progress, expectedTokens, capacityTokens: room };
  const loads = report.loads.copy();
  const targets: Target[] = open.map((place) => ({
    place,
    free: engines[place]!.capacityTokens - outlook.mean(loads, place),
  }));
  const moving = deal(report, loads, leaves, targets, outlook);
  const { columns } = report;
  const starts = orderByPlace(columns, outlook.requests, engines.length);
  const capacities = keep.map((place) => engines[place]!.capacityTokens);
  const { fill, peaks } = fillTogether(
    keep.map((place) => outlook.moments(loads, place, columns.spare.subarray(starts[place]!, starts[place + 1]!))),
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
