/** Every strategy of flex-ulysses beside its search places every batch validly (invariants 1 and 4 of its README). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../src/index.ts';
import type { FlexUlyssesInput } from '../../src/planners/flex-ulysses/index.ts';
import { runs } from '../support/basics/runs.ts';
import { placementProblems } from '../support/placement/check.ts';

const length = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 1, max: 2000 }),
  fc.integer({ min: 20_000, max: 200_000 }),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const inputs = fc.record({
  lengths: fc.array(length, { maxLength: 60, size: 'max' }),
  devices: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(48, 64, 96, 128)),
  maxDegree: fc.constantFrom(1, 2, 3, 4, 8, 16, 64),
  attentionHeads: optional(fc.constantFrom(6, 8, 28, 32)),
  kvHeads: optional(fc.constantFrom(1, 2, 4, 6)),
  devicesPerNode: fc.constantFrom(1, 4, 8),
  memorySlack: fc.constantFrom(1, 1.1, 2),
  memoryCapTokens: optional(fc.constantFrom(0, 100, 5000)),
  overCap: fc.constant('allow' as const),
});

const defined = (given: object) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as FlexUlyssesInput;

describe('flex-ulysses', () => {
  test.each(['paper', 'bucketing', 'karmarkar-karp', 'ulysses'] as const)('1. and 4. %s', (strategy) => {
    fc.assert(
      fc.property(inputs, (given) => {
        const input = { ...defined(given), strategy };
        expect(placementProblems(input, runPlanner(flexUlysses, input))).toEqual([]);
      }),
      runs(400),
    );
  });
});
