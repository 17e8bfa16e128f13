/** A batch and its devices, in the form that strategies use. */

import type { FlexUlyssesSettings } from '../../generated/settings/flex-ulysses.ts';
import { splitCosts, workOf } from './costs.ts';

/**
 * A batch to place. Degrees are powers of two: level l has the degree 2 ** l. The groups of a level are numbered from 0; group g of
 * level l has the devices g · 2 ** l up to (g + 1) · 2 ** l − 1. Groups of the last level are the top groups: every group lies in
 * one of them.
 */
export interface Instance {
  readonly sequences: number;
  readonly devices: number;
  /** Number of degrees, >= 1. */
  readonly levels: number;
  /** Tokens of each sequence. */
  readonly lengths: Float64Array;
  /** Compute of each sequence on one device that holds it whole; at level l, each device has work ÷ 2 ** l. */
  readonly work: Float64Array;
  /** The sequences, most work first. */
  readonly byWork: readonly number[];
  /** Cost of sharding, by level and sequence; all 0 at level 0. */
  readonly splitCost: readonly Float64Array[];
  /** Requested limit on the tokens of a device. */
  readonly memoryCap: number;
}

/** A sequence's degree and group: `level[i]` and `group[i]`. */
export interface Placement {
  readonly level: Uint8Array;
  readonly group: Int32Array;
}

/** Returns the indices of a list, sorted by descending value, then by index. */
export function descending(values: Float64Array): number[] {
  return Array.from(values, (_, index) => index).sort((a, b) => values[b]! - values[a]! || a - b);
}

/** Returns the number of devices of a top group. */
export const topDegree = (instance: Instance): number => 2 ** (instance.levels - 1);

/** Returns the lowest level whose degree passes the test `fits`; the last level if none passes. */
export function lowestLevel(levels: number, fits: (degree: number) => boolean): number {
  let level = 0;
  while (level < levels - 1 && !fits(2 ** level)) level += 1;
  return level;
}

/** Returns the least cost of sharding a sequence at the level `lowest` or above. */
export function cheapestFrom(cost: readonly Float64Array[], index: number, lowest: number): number {
  let cheapest = Number.POSITIVE_INFINITY;
  for (let level = lowest; level < cost.length; level += 1) cheapest = Math.min(cheapest, cost[level]![index]!);
  return cheapest;
}

type Heads = Pick<FlexUlyssesSettings, 'attentionHeads' | 'kvHeads'>;

/** Whether the heads can be spread over `degree` devices. */
function spreads(degree: number, { attentionHeads, kvHeads }: Heads): boolean {
  if (attentionHeads !== undefined && attentionHeads % degree !== 0) return false;
  return kvHeads === undefined || kvHeads % degree === 0 || degree % kvHeads === 0;
}

/** Counts the admissible degrees: 1, 2, 4 … as long as groups of that size partition the devices. */
function admissibleLevels(settings: Pick<FlexUlyssesSettings, 'devices' | 'maxDegree'> & Heads): number {
  let levels = 1;
  for (let degree = 2; degree <= settings.maxDegree; degree *= 2) {
    if (settings.devices % degree !== 0 || !spreads(degree, settings)) break;
    levels += 1;
  }
  return levels;
}

/** Whether a group of `degree` devices can span two nodes. */
function crossesNodes(degree: number, { devices, devicesPerNode }: FlexUlyssesSettings): boolean {
  return devices > devicesPerNode && devicesPerNode % degree !== 0;
}

/**
 * Returns the batch of an input.
 *
 * @throws PolicyError `infeasible` or `invalid_input` if the cost model does not cover a length or a degree
 */
export function instanceOf(settings: FlexUlyssesSettings): Instance {
  const { lengths, devices, costs } = settings;
  const levels = admissibleLevels(settings);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const work = workOf(lengths, costs);
  return {
    sequences: lengths.length,
    devices,
    levels,
    lengths: Float64Array.from(lengths),
    work,
    byWork: descending(work),
    splitCost: Array.from({ length: levels }, (_, level) =>
      splitCosts(lengths, 2 ** level, crossesNodes(2 ** level, settings), costs),
    ),
    memoryCap: settings.memoryCapTokens ?? (settings.memorySlack * total) / devices,
  };
}
