/** The oracle of flex-ulysses against every plan of tiny batches, and the bounds of a plan against the oracle. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { communicationBound, computeBound } from '../../src/planners/flex-ulysses/bounds.ts';
import { fewestSharded } from '../../src/planners/flex-ulysses/counting.ts';
import type { FlexUlyssesInput } from '../../src/planners/flex-ulysses/index.ts';
import { type Instance, instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { loadsOf } from '../../src/planners/flex-ulysses/placement.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { runs } from '../support/basics/runs.ts';
import { everyPlan } from '../support/placement/enumeration.ts';
import { familyLengths, placementFamilies } from '../support/placement/families.ts';
import { inputOf, knownInstances } from '../support/placement/instances.ts';
import { solver } from '../support/placement/milp.ts';
import { leastCommunication, leastCompute, leastMemory } from '../support/placement/oracle.ts';

const highs = await solver;

const machines = (...pairs: [devices: number, maxDegree: number][]) =>
  fc.constantFrom(...pairs).map(([devices, maxDegree]) => ({ devices, maxDegree }));

const costs = fc.constantFrom<FlexUlyssesInput['costs']>(
  undefined,
  undefined,
  { compute: { perToken: 24_576, perTokenSquared: 1 } },
  {
    compute: { perToken: 1 },
    communication: [
      { degree: 2, cost: { base: 3, perToken: 0.2 } },
      { degree: 4, cost: { perToken: 0.5 } },
      { degree: 8, cost: { base: 1, perToken: 0.1 } },
    ],
  },
);

/** An input with its lengths; others have the memory as tight as they say, from impossible to no matter. */
const inputs = (lengths: fc.Arbitrary<number[]>, machine: ReturnType<typeof machines>) =>
  fc
    .record({
      lengths,
      machine,
      costs,
      devicesPerNode: fc.constantFrom(2, 8),
      memory: fc.constantFrom(0, 0.5, 0.9, 1, 1.1, 1.5, 4),
    })
    .map(({ machine: { devices, maxDegree }, costs: model, devicesPerNode, memory, lengths: own }): Instance => {
      const memoryCapTokens = (memory * own.reduce((sum, one) => sum + one, 0)) / devices;
      const input = { lengths: own, devices, maxDegree, devicesPerNode, memoryCapTokens };
      return instanceOf(flexUlyssesInput.parse(model === undefined ? input : { ...input, costs: model }));
    });

const length = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(0, 1, 512, 512, 100_000));

/** At most this, or at most what a sum of the same numbers in another order is. */
const atMost = (one: number, most: number): boolean => one <= most * (1 + 1e-9);
const least = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);

describe('the oracle', () => {
  const tiny = inputs(
    fc.array(length, { maxLength: 5 }),
    machines([1, 1], [2, 1], [2, 2], [3, 4], [4, 2], [4, 4], [4, 8]),
  );

  test('finds the least compute, communication and memory of all plans', () => {
    fc.assert(
      fc.property(tiny, fc.constantFrom(0, 0.01, 0.3), (instance, tolerance) => {
        const plans = everyPlan(instance);
        const memory = least(plans.map((one) => one.memory))!;
        expect(leastMemory(highs, instance)).toBeCloseTo(memory, 6);
        for (const cap of [instance.memoryCap, memory]) {
          const within = plans.filter((one) => atMost(one.memory, cap));
          const compute = least(within.map((one) => one.compute));
          const found = leastCompute(highs, instance, cap);
          expect(found === undefined).toBe(compute === undefined);
          if (compute === undefined) {
            expect(leastCommunication(highs, instance, Number.MAX_VALUE, cap)).toBeUndefined();
            continue;
          }
          expect(Math.abs(found! - compute)).toBeLessThanOrEqual(1e-9 * compute);
          const limit = compute * (1 + tolerance);
          const cheapest = leastCommunication(highs, instance, limit, cap)!;
          const communication = least(
            within.filter((one) => atMost(one.compute, limit)).map((one) => one.communication),
          )!;
          expect(cheapest.communication).toBeCloseTo(communication, 6);
          const loads = loadsOf(instance, cheapest.placement);
          for (const load of loads.compute) expect(atMost(load, limit * (1 + 1e-9))).toBe(true);
          for (const load of loads.memory) expect(atMost(load, cap * (1 + 1e-9))).toBe(true);
        }
      }),
      runs(60),
    );
  });

  test('finds no plan below the least compute, or within a memory that no plan keeps', () => {
    fc.assert(
      fc.property(tiny, (instance) => {
        const memory = leastMemory(highs, instance);
        const compute = leastCompute(highs, instance, memory)!;
        fc.pre(memory > 0 && compute > 0);
        expect(leastCompute(highs, instance, memory * (1 - 1e-6))).toBeUndefined();
        expect(leastCommunication(highs, instance, compute * (1 - 1e-6), memory)).toBeUndefined();
        expect(leastCommunication(highs, instance, compute, memory * (1 - 1e-6))).toBeUndefined();
      }),
      runs(40),
    );
  });
});

test.each(knownInstances.filter(({ lengths }) => lengths.length <= 8))(
  'the oracle confirms what is proven of $id',
  (known) => {
    const instance = instanceOf(flexUlyssesInput.parse(inputOf(known)));
    expect(leastCompute(highs, instance, known.memoryCapTokens)).toBeCloseTo(known.bestCompute, 3);
    for (const { tolerance, communication } of known.best) {
      const limit = (1 + tolerance) * known.bestCompute;
      const cheapest = leastCommunication(highs, instance, limit, known.memoryCapTokens)!;
      expect(cheapest.communication).toBeCloseTo(communication, 6);
    }
  },
);

describe('the bounds of a plan', () => {
  const familiar = fc
    .record({
      family: fc.constantFrom(...placementFamilies),
      seed: fc.nat(),
      sequences: fc.integer({ min: 1, max: 10 }),
    })
    .map(({ family, seed, sequences }) => familyLengths(family, seed, sequences));
  const small = inputs(
    fc.oneof(familiar, fc.array(length, { maxLength: 9 })),
    machines([4, 2], [6, 2], [8, 2], [8, 4], [12, 4], [16, 8]),
  );

  test('are never above the optimum', () => {
    fc.assert(
      fc.property(small, fc.constantFrom(0, 0.01, 0.1), (instance, tolerance) => {
        const asked = leastCompute(highs, instance, instance.memoryCap);
        const cap = asked === undefined ? leastMemory(highs, instance) : instance.memoryCap;
        const compute = asked ?? leastCompute(highs, instance, cap)!;
        expect(atMost(computeBound(instance, cap), compute)).toBe(true);
        const limit = compute * (1 + tolerance);
        const { communication } = leastCommunication(highs, instance, limit, cap)!;
        expect(atMost(communicationBound(instance, limit, cap), communication)).toBe(true);
        expect(atMost(fewestSharded(instance, limit, cap).communication, communication)).toBe(true);
      }),
      runs(60),
    );
  });
});
