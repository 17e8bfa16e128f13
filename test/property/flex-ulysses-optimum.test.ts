/** The plans of flex-ulysses on small batches against the optimum that mixed-integer programs find. */
import { describe, expect, test } from 'vitest';
import { type FlexUlyssesInput, planFlexUlysses } from '../../src/index.ts';
import { instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { pickIndex, uniform } from '../../src/sim/random.ts';
import { solver } from '../support/milp.ts';
import { placementProblems } from '../support/placement-check.ts';
import { familyLengths, placementFamilies } from '../support/placement-families.ts';
import { leastCommunication, leastCompute, leastMemory } from '../support/placement-oracle.ts';

const highs = await solver;

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

const baseOf = (seed: number) => ({
  ...machines[pickIndex(machines.length, seed, 4)]!,
  lengths: lengthsOf(seed),
  balanceTolerance: 0,
});

/** What is wrong with the plan of an input, as phrases. */
function problemsOf(input: FlexUlyssesInput): string[] {
  const instance = instanceOf(flexUlyssesInput.parse(input));
  const plan = planFlexUlysses(input);
  const problems = placementProblems(input, plan);
  const { maxCompute, maxMemoryTokens, communication } = plan.metrics;
  const atMost = (name: string, got: number, most: number, tolerance: number) => {
    if (got > most * (1 + tolerance)) problems.push(`${name} is ${got}, ${got / most} of the least, ${most}`);
  };
  const asked = leastCompute(highs, instance, instance.memoryCap);
  const memory = asked === undefined ? leastMemory(highs, instance) : instance.memoryCap;
  const compute = asked ?? leastCompute(highs, instance, memory)!;
  if (plan.memoryRelaxed !== (asked === undefined)) problems.push(`memoryRelaxed is ${plan.memoryRelaxed}`);
  atMost('memory', maxMemoryTokens, memory, 1e-6);
  atMost('compute', maxCompute, compute, 1e-6);
  atMost('communication', communication, leastCommunication(highs, instance, compute, memory)!.communication, 0.05);
  return problems;
}

const blocks = (count: number) => Array.from({ length: count }, (_, block) => block);
/** Mutation tests take fewer; more than these take minutes. */
const seedsPerBlock = Math.ceil(20 * Math.min(1, Number(process.env.ROLLFLEX_RUNS ?? 1)));

/** Those of a block of inputs that have problems. */
const wrong = (block: number, inputAt: (seed: number) => FlexUlyssesInput) =>
  Array.from({ length: seedsPerBlock }, (_, at) => inputAt(block * seedsPerBlock + at))
    .map((input) => ({ input, problems: problemsOf(input) }))
    .filter(({ problems }) => problems.length > 0);

describe('the search at tolerance 0', () => {
  test.each(blocks(12))('reaches the least compute, and communicates at most 1.05 × the least: block %d', (block) => {
    expect(wrong(block, baseOf)).toEqual([]);
  });

  test.each(blocks(2))('needs the least memory where too little is given: block %d', (block) => {
    const inputAt = (seed: number): FlexUlyssesInput => {
      const { lengths, ...base } = baseOf(1000 + seed);
      const mean = lengths.reduce((sum, one) => sum + one, 0) / base.devices;
      return { ...base, lengths, memoryCapTokens: [0, 0.8, 1][seed % 3]! * mean };
    };
    expect(wrong(block, inputAt)).toEqual([]);
  });

  test.each(blocks(2))('does so with other costs: block %d', (block) => {
    const inputAt = (seed: number): FlexUlyssesInput => {
      const base = baseOf(2000 + seed);
      if (seed % 3 === 0) return { ...base, costs: { compute: { perToken: 24_576, perTokenSquared: 1 } } };
      if (seed % 3 === 1) return { ...base, devicesPerNode: 2 };
      const cost = (value: number) => ({ base: 10, perToken: value });
      const communication = [
        { degree: 2, cost: cost(0.2) },
        { degree: 4, cost: cost(0.5) },
        { degree: 8, cost: cost(0.1) },
      ];
      return { ...base, costs: { compute: { base: 1e5, perTokenSquared: 1 }, communication } };
    };
    expect(wrong(block, inputAt)).toEqual([]);
  });
});
