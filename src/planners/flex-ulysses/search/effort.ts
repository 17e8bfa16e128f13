/** The effort of the search: counts of steps, never a clock, so that a plan is the same on every machine. */

import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import type { Problem } from './problem.ts';

/** Steps of a whole search: a fixed number, and more per sequence. */
const stepsOf: Readonly<Record<FlexUlyssesSettings['effort'], readonly [number, number]>> = {
  fast: [60_000_000, 1000],
  default: [400_000_000, 1000],
  thorough: [2_000_000_000, 1000],
};

/** Returns the effort, or a lower effort that the allowed steps suffice for: each part of a search needs its steps. */
export function affordable({ effort, lengths, maxSteps }: FlexUlyssesSettings): FlexUlyssesSettings['effort'] {
  const isEnough = (one: FlexUlyssesSettings['effort']): boolean =>
    maxSteps === undefined || maxSteps >= stepsOf[one][0] + stepsOf[one][1] * lengths.length;
  if (effort === 'thorough' && isEnough('thorough')) return 'thorough';
  return effort !== 'fast' && isEnough('default') ? 'default' : 'fast';
}

/** Returns the most steps of the search for a batch. */
export function stepsFor({ effort, lengths, maxSteps }: FlexUlyssesSettings): number {
  const [some, each] = stepsOf[effort];
  return maxSteps ?? some + each * lengths.length;
}

/** With so many items per device, short items fill the gaps, and little has to be rearranged. */
const crowded = 3;

/** Whether devices have many items. */
export const isCrowded = (items: number, devices: number): boolean => items >= crowded * devices;

/** An item is short if it takes at most `short` of a device; if `enough` of all items are short, they fill most gaps. */
const short = 1 / 32;
const enough = 1 / 8;

/** Whether too few items are short to fill the gaps; then finding items that fit together takes many steps. */
const isCoarse = ({ items, work }: Problem): boolean => items > 0 && work[Math.floor((1 - enough) * items)]! > short;

/** Steps and numbers of tries for each part of the search. */
export interface Effort {
  /** Steps of one annealing over devices. */
  readonly deviceSteps: number;
  /** Steps of one annealing over groups, each of which takes longer than a step over devices. */
  readonly groupSteps: number;
  /** Factor of `groupSteps` if too few items are short. */
  readonly coarseTimes: number;
  /** Steps of an annealing that polishes the result of another. */
  readonly polishSteps: number;
  /** Limit on the exchanges to look at when one layout is evened out. */
  readonly exchanges: number;
  /** Number of times that a layout is shaken while it is evened out. */
  readonly shakes: number;
  /** Steps to fill all devices anew, where there are few devices. */
  readonly completion: number;
  /** Limit on the placements of single items, for small batches in which all placements are tried. */
  readonly enumerated: number;
  /** Steps of all annealings together where the items are nearly equal. */
  readonly alikeSteps: number;
  /** Starts of annealings. */
  readonly starts: number;
  /** Number of prefixes to try, and number of fills of each prefix to polish. */
  readonly prefixes: number;
  readonly polished: number;
}

const efforts: Readonly<Record<FlexUlyssesSettings['effort'], Effort>> = {
  fast: {
    deviceSteps: 12_000,
    groupSteps: 2000,
    coarseTimes: 4,
    polishSteps: 3000,
    exchanges: 100_000,
    shakes: 0,
    completion: 400_000,
    enumerated: 20_000,
    alikeSteps: 100_000,
    starts: 3,
    prefixes: 4,
    polished: 1,
  },
  default: {
    deviceSteps: 40_000,
    groupSteps: 16_000,
    coarseTimes: 1,
    polishSteps: 16_000,
    exchanges: 800_000,
    shakes: 1,
    completion: 20_000_000,
    enumerated: 400_000,
    alikeSteps: 280_000,
    starts: 24,
    prefixes: 8,
    polished: 3,
  },
  thorough: {
    deviceSteps: 400_000,
    groupSteps: 160_000,
    coarseTimes: 1,
    polishSteps: 100_000,
    exchanges: 4_000_000,
    shakes: 4,
    completion: 120_000_000,
    enumerated: 4_000_000,
    alikeSteps: 6_000_000,
    starts: 24,
    prefixes: 24,
    polished: 3,
  },
};

/** With more items than this, the number of steps grows with the items; with fewer, up to twice as many steps take no more time. */
const usual = 256;
const most = 2;
/** With many items but few per device, every part of the search is needed, so each part is shorter. */
const brisk = 0.7;
const few = 64;
/** With more than this many times `usual` items, there is time for only a few starts. */
const huge = 8;

/**
 * On devices with many items, steps find more than exchanges do in the same time, so the steps are increased. Problems with few
 * items do not need more steps, and with very many items there is no time.
 */
const manySteps = 4;
const fewExchanges = 8;

/** Returns the effort for a problem. */
export function effortFor(effort: FlexUlyssesSettings['effort'], problem: Problem): Effort {
  const { items, devices } = problem;
  const base = efforts[effort];
  const times = items > usual ? items / (2 * usual) : Math.min(most, usual / Math.max(1, items));
  const many = (steps: number): number => Math.ceil(steps * Math.max(1, times));
  const shared: Effort = {
    ...base,
    deviceSteps: many(base.deviceSteps),
    groupSteps: many(base.groupSteps),
    polishSteps: many(base.polishSteps),
    // With few items, shaking takes hardly any time.
    shakes: items <= few ? 4 * base.shakes : base.shakes,
    starts: items > huge * usual ? Math.min(3, base.starts) : base.starts,
  };
  if (isCrowded(items, devices)) {
    const longer = items > usual / most && items <= huge * usual ? manySteps : 1;
    return {
      ...shared,
      deviceSteps: longer * shared.deviceSteps,
      groupSteps: 2 * shared.groupSteps,
      polishSteps: longer * shared.polishSteps,
      exchanges: base.exchanges / (items > usual / most ? fewExchanges : 1),
    };
  }
  // Devices with few items allow few exchanges, which rarely help.
  const fewer = items > usual / most ? brisk : 1;
  const longer = isCoarse(problem) ? base.coarseTimes : 1;
  return {
    ...shared,
    deviceSteps: Math.ceil(fewer * shared.deviceSteps),
    groupSteps: Math.ceil(fewer * longer * shared.groupSteps),
    polishSteps: Math.ceil(fewer * shared.polishSteps),
    exchanges: base.exchanges / fewExchanges,
    prefixes: Math.ceil(base.prefixes / 4),
    polished: 1,
    shakes: items <= few ? base.shakes : 0,
  };
}
