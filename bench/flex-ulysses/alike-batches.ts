/**
 * Batches of nearly equal lengths with few sequences a device: whole sequences do not fill the devices, short ones that
 * would fill the gaps do not exist, and so how many are sharded, and where, decides what a plan costs.
 */
import type { FlexUlyssesInput, FlexUlyssesPlan } from '../../src/planners/flex-ulysses/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

/** One batch of a grid. */
export interface AlikeCell {
  /** Sequences a device. */
  readonly each: number;
  readonly devices: number;
  /** By how much the longest may be longer than the shortest, relative. */
  readonly spread: number;
  readonly maxDegree: number;
  /** 0.01 if absent. */
  readonly tolerance?: number;
}

const shortest = 8192;

/** The cells of a grid whose devices fill a group of the largest degree. */
const cellsOf = (grid: { readonly [Key in keyof AlikeCell]-?: readonly number[] }): AlikeCell[] =>
  grid.each
    .flatMap((each) =>
      grid.devices.flatMap((devices) =>
        grid.spread.flatMap((spread) =>
          grid.maxDegree.flatMap((maxDegree) =>
            grid.tolerance.map((tolerance) => ({ each, devices, spread, maxDegree, tolerance })),
          ),
        ),
      ),
    )
    .filter(({ devices, maxDegree }) => maxDegree <= devices);

/** One of so many cells, from the first on. */
const oneIn = (count: number, cells: readonly AlikeCell[]): AlikeCell[] => cells.filter((_, at) => at % count === 0);

/** Where the papers are: 1.5 to 3 sequences a device, within a few percent of each other. */
const close = cellsOf({
  each: [1.5, 1.7, 1.9, 2, 2.2, 2.6, 3],
  devices: [16, 32, 64],
  spread: [0.005, 0.01, 0.02, 0.05],
  maxDegree: [8, 16, 32],
  tolerance: [0, 0.01, 0.05],
});

/** More sequences, more devices and wider spreads. */
const wide = cellsOf({
  each: [1.5, 1.8, 2, 2.3, 2.5, 3.2, 4, 5.5, 8],
  devices: [16, 32, 128, 512],
  spread: [0.01, 0.05, 0.1, 0.2],
  maxDegree: [4, 8, 16],
  tolerance: [0.01],
});

/** The grids of the bench, by name: a sample with all values of each kind. */
export const alikeGrids = { close: oneIn(4, close), wide: oneIn(5, wide) } as const;

/** Seeds of the batches. Variants of the search were compared on these batches: `alike.ts --seed` takes others. */
export const alikeSeeds = { close: 21, wide: 22 } as const;

/** A batch of a grid: lengths drawn evenly between the shortest and the longest. */
export function alikeInput(cell: AlikeCell, seed: number): FlexUlyssesInput {
  const { each, devices, spread, maxDegree, tolerance = 0.01 } = cell;
  const lengths = Array.from({ length: Math.round(each * devices) }, (_, index) =>
    Math.round(shortest * (1 + spread * uniform(seed, devices, index))),
  );
  return { lengths, devices, maxDegree, balanceTolerance: tolerance };
}

/** The name of a batch. */
export const alikeKey = ({ each, devices, spread, maxDegree, tolerance = 0.01 }: AlikeCell, seed: number): string =>
  [each, devices, spread, maxDegree, tolerance, seed].join(' ');

/** Whether counting shows that no plan communicates less, to a thousandth. */
export function isProven({ metrics, bounds }: Pick<FlexUlyssesPlan, 'metrics' | 'bounds'>): boolean {
  return metrics.communication <= 1.001 * bounds.communication;
}
