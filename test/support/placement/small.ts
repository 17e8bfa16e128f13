/** Batches of flex-ulysses that are small enough for their optimum to be found: drawn by a seed. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FlexUlyssesInput } from '../../../src/planners/flex-ulysses/index.ts';
import { pickIndex, uniform } from '../../../src/sim/workload/random.ts';
import { familyLengths, placementFamilies } from './families.ts';

/** Devices and largest degrees with two top groups or more. */
const machines = [
  { devices: 4, maxDegree: 2 },
  { devices: 6, maxDegree: 8 },
  { devices: 8, maxDegree: 2 },
  { devices: 8, maxDegree: 4 },
  { devices: 10, maxDegree: 4 },
  { devices: 12, maxDegree: 8 },
  { devices: 16, maxDegree: 2 },
  { devices: 16, maxDegree: 4 },
  { devices: 16, maxDegree: 8 },
] as const;

/** Other lengths than those of the families, by a number from 0 to 1. */
const shapes: readonly ((share: number) => number)[] = [
  (share) => Math.ceil(10_000 * share),
  (share) => Math.round(100 * 1000 ** share),
  (share) => 1024 * Math.ceil(6 * share),
  (share) => (share < 0.2 ? 0 : share < 0.6 ? 500 : Math.ceil(40_000 * share)),
];

/** Lengths of 3 to 12 sequences: of one of the families, or of another shape. */
function lengthsOf(seed: number): number[] {
  const sequences = 3 + pickIndex(10, seed, 1);
  const kind = pickIndex(placementFamilies.length + shapes.length, seed, 2);
  const family = placementFamilies[kind];
  if (family !== undefined) return familyLengths(family, seed, sequences);
  const shape = shapes[kind - placementFamilies.length]!;
  return Array.from({ length: sequences }, (_, index) => shape(uniform(seed, 3, index)));
}

/** A small batch, held to the best balance. */
export const smallBatch = (seed: number) => ({
  ...machines[pickIndex(machines.length, seed, 4)]!,
  lengths: lengthsOf(seed),
  balanceTolerance: 0,
});

/** A small batch with little memory: mostly less than it needs. */
export function tightMemory(seed: number): FlexUlyssesInput {
  const { lengths, ...base } = smallBatch(1000 + seed);
  const mean = lengths.reduce((sum, one) => sum + one, 0) / base.devices;
  return { ...base, lengths, memoryCapTokens: [0, 0.8, 1][seed % 3]! * mean, overCap: 'allow' };
}

/** A small batch with other costs than those of the paper. */
export function otherCosts(seed: number): FlexUlyssesInput {
  const base = smallBatch(2000 + seed);
  if (seed % 3 === 0) return { ...base, costs: { compute: { perToken: 24_576, perTokenSquared: 1 } } };
  if (seed % 3 === 1) return { ...base, devicesPerNode: 2 };
  const cost = (value: number) => ({ base: 10, perToken: value });
  const communication = [
    { degree: 2, cost: cost(0.2) },
    { degree: 4, cost: cost(0.5) },
    { degree: 8, cost: cost(0.1) },
  ];
  return { ...base, costs: { compute: { base: 1e5, perTokenSquared: 1 }, communication } };
}

/** The kinds of small batches. */
export const smallBatches = { smallBatch, tightMemory, otherCosts };

/** Recorded optima: the kind and the seed of a batch; memory, compute and communication of its best plan. */
export const optima = readFileSync(
  fileURLToPath(new URL('../../fixtures/placement-optima.jsonl', import.meta.url)),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as [keyof typeof smallBatches, number, number, number, number]);
