/** How long the search looks: counts of steps, never a clock, so that a plan is the same on every machine. */
import type { FlexUlyssesSettings } from '../schema.ts';
import type { Schedule } from './anneal-groups.ts';
import type { Problem } from './problem.ts';

/** Where an annealing over groups starts, and how it goes. */
export interface Run {
  /** As for `construct`; `flat`: from the best balance, where everything is spread. */
  readonly start: number | 'flat';
  /** As for a layout of groups. */
  readonly surplusWeight: number;
  readonly temperature: Schedule['temperature'];
  readonly price: Schedule['price'];
}

const hot: Pick<Run, 'temperature' | 'price'> = { temperature: [1.8, 0.01], price: [90, 90] };
const cool: Pick<Run, 'temperature' | 'price'> = { temperature: [0.45, 0.01], price: [9, 45] };

const together: Run = { start: 0.6, surplusWeight: 0, ...hot };
const apart: Run = { start: 0, surplusWeight: 0.5, ...hot };
const flat: Run = { start: 'flat', surplusWeight: 2, ...hot };
const coolTogether: Run = { start: 0.6, surplusWeight: 0, ...cool };
const coolApart: Run = { start: 0, surplusWeight: 0, ...cool };

/** With this many items a device, short ones fill the gaps, and little has to be rearranged. */
const crowded = 3;
/** With no more items than this, steps are cheap and more ways are tried. */
const few = 64;

/** The ways to start, the most promising first. */
export function runsFor({ items, devices }: Problem): readonly Run[] {
  if (items >= crowded * devices) return [coolTogether, coolApart, apart, flat];
  if (items <= few) return [together, apart, flat, coolTogether, apart, flat];
  return [apart, together, flat];
}

/** Counts of steps of each part of the search. */
export interface Effort {
  /** Of one annealing over groups. */
  readonly groupSteps: number;
  /** Of one annealing over devices that polishes what another found. */
  readonly polishSteps: number;
  /** Of one annealing over devices from the start; only with few items. */
  readonly deviceSteps: number;
  /** Exchanges that one evening out may look at. */
  readonly exchanges: number;
  /** Placements of one item that are tried where there are fewest. */
  readonly enumerated: number;
  /** How many runs. */
  readonly runs: number;
  /** How many prefixes are tried. */
  readonly prefixes: number;
}

const efforts: Readonly<Record<FlexUlyssesSettings['effort'], Effort>> = {
  fast: {
    groupSteps: 6000,
    polishSteps: 3000,
    deviceSteps: 4000,
    exchanges: 60_000,
    enumerated: 20_000,
    runs: 2,
    prefixes: 4,
  },
  default: {
    groupSteps: 40_000,
    polishSteps: 12_000,
    deviceSteps: 20_000,
    exchanges: 800_000,
    enumerated: 400_000,
    runs: 6,
    prefixes: 8,
  },
  thorough: {
    groupSteps: 600_000,
    polishSteps: 150_000,
    deviceSteps: 200_000,
    exchanges: 2_000_000,
    enumerated: 10_000_000,
    runs: 6,
    prefixes: 16,
  },
};

/** With more items than this, steps grow with them. */
const usual = 512;

/** The effort for a problem. */
export function effortFor(effort: FlexUlyssesSettings['effort'], { items }: Problem): Effort {
  const base = efforts[effort];
  const times = Math.max(1, items / usual);
  return {
    ...base,
    groupSteps: Math.ceil(base.groupSteps * times),
    polishSteps: Math.ceil(base.polishSteps * times),
    exchanges: Math.ceil(base.exchanges * times),
    runs: times > 4 ? Math.min(2, base.runs) : base.runs,
  };
}

/** Whether there are so few items that starting over device by device is worth it. */
export const isSmall = ({ items }: Problem): boolean => items <= few;
