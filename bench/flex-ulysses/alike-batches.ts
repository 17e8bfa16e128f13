/**
 * Batches of nearly equal lengths with few sequences a device: whole sequences do not fill the devices, short ones that
 * would fill the gaps do not exist, and so how many are sharded, and where, decides what a plan costs.
 */
import type { FlexUlyssesInput, FlexUlyssesPlan } from '../../src/planners/flex-ulysses/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

/** One batch of the grid. */
export interface AlikeCell {
  /** Sequences a device. */
  readonly each: number;
  readonly devices: number;
  /** By how much the longest may be longer than the shortest, relative. */
  readonly spread: number;
  readonly maxDegree: number;
}

const shortest = 8192;
const grid = {
  each: [1.5, 1.8, 2, 2.3, 2.5, 3.2, 4, 5.5, 8],
  devices: [16, 32, 128, 512],
  spread: [0.01, 0.05, 0.1, 0.2],
  maxDegree: [4, 8, 16],
} as const;

/** All of the grid. */
export const alikeCells: readonly AlikeCell[] = grid.each.flatMap((each) =>
  grid.devices.flatMap((devices) =>
    grid.spread.flatMap((spread) => grid.maxDegree.map((maxDegree) => ({ each, devices, spread, maxDegree }))),
  ),
);

/** One in five, with all values of each kind: the long search takes minutes for them. */
export const sampledCells = alikeCells.filter((_, at) => at % 5 === 0);

/** A batch of the grid: lengths drawn evenly between the shortest and the longest. */
export function alikeInput({ each, devices, spread, maxDegree }: AlikeCell, seed: number): FlexUlyssesInput {
  const lengths = Array.from({ length: Math.round(each * devices) }, (_, index) =>
    Math.round(shortest * (1 + spread * uniform(seed, devices, index))),
  );
  return { lengths, devices, maxDegree };
}

/** The name of a batch. */
export const alikeKey = ({ each, devices, spread, maxDegree }: AlikeCell, seed: number): string =>
  [each, devices, spread, maxDegree, seed].join(' ');

/** Whether counting shows that no plan communicates much less. */
export function isProven({ metrics, bounds }: FlexUlyssesPlan): boolean {
  return metrics.communication <= 1.02 * bounds.communication;
}
