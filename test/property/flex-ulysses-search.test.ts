/** The default strategy of flex-ulysses on any batch; numbers in titles are those of its README. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../src/index.ts';
import type { FlexUlyssesInput } from '../../src/planners/flex-ulysses/index.ts';
import { runs } from '../support/basics/runs.ts';
import { placementProblems } from '../support/placement/check.ts';

const length = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 4000 }),
  fc.integer({ min: 3000, max: 120_000 }),
);
const batch = fc.record({
  lengths: fc.array(length, { maxLength: 40 }),
  devices: fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 56),
  maxDegree: fc.constantFrom(1, 2, 4, 8, 16),
  memorySlack: fc.constantFrom(1, 1.02, 1.1, 1.5),
  balanceTolerance: fc.constantFrom(0, 0.001, 0.01, 0.05, 0.5),
  effort: fc.constantFrom('fast' as const, 'default' as const),
});

/** Nearly equal lengths, few a device: from fewer than devices to eight each, with memory that is tight now and then. */
const alike = fc
  .record({
    devices: fc.constantFrom(2, 4, 6, 8, 12, 16, 24, 32),
    each: fc.double({ min: 0.3, max: 8, noNaN: true }),
    spread: fc.constantFrom(0, 0.001, 0.01, 0.05, 0.2, 0.39),
    shares: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    rest: fc.record({
      maxDegree: fc.constantFrom(2, 4, 8, 16, 32),
      devicesPerNode: fc.constantFrom(2, 8),
      memorySlack: fc.constantFrom(1, 1.02, 1.1),
      balanceTolerance: fc.constantFrom(0, 0.01, 0.3),
      effort: fc.constant('fast' as const),
      costs: fc.constantFrom<FlexUlyssesInput['costs']>(
        {},
        { crossNodeFactor: 0 },
        { compute: { perToken: 24_576, perTokenSquared: 1 } },
        {
          communication: [2, 4, 8, 16, 32].map((degree) => ({ degree, cost: { base: 10, perToken: 0.1 * degree } })),
        },
      ),
    }),
  })
  .map(({ devices, each, spread, shares, rest }) => {
    const lengths = Array.from({ length: Math.ceil(each * devices) }, () =>
      Math.round(2000 * (1 + spread * shares.next().value)),
    );
    return { ...rest, devices, lengths };
  });

/** Adversarial batches: what the arbitrary hardly ever draws. */
const adversarial: readonly FlexUlyssesInput[] = [1, 6, 12, 64, 1024].flatMap((devices) => [
  { lengths: [], devices },
  { lengths: [0, 0, 0], devices },
  { lengths: [100_000], devices },
  { lengths: [100_000, ...new Array<number>(60).fill(30)], devices },
  { lengths: new Array<number>(48).fill(777), devices },
  { lengths: [5, 4, 3], devices },
  { lengths: [9000, 9000, 1, 0, 0, 2], devices, memoryCapTokens: 0, overCap: 'allow' as const },
]);

describe('search', () => {
  test('1, 2, 4. every plan is valid, within its limits, and not better than its bounds', () => {
    fc.assert(
      fc.property(batch, (input) => {
        expect(placementProblems(input, runPlanner(flexUlysses, input))).toEqual([]);
      }),
      runs(60),
    );
  });

  test('1, 2, 3, 4. so it is where lengths are nearly equal', () => {
    fc.assert(
      fc.property(alike, (input) => {
        const plan = runPlanner(flexUlysses, input);
        expect(placementProblems(input, plan)).toEqual([]);
        const most = (1 + input.balanceTolerance) * 1.0004 * plan.bounds.compute;
        const even = runPlanner(flexUlysses, { ...input, balanceTolerance: 0 }).metrics.maxCompute;
        expect(plan.limits.compute).toBeLessThanOrEqual(Math.max(most, even) * (1 + 1e-9));
      }),
      runs(40),
    );
  });

  test.each(adversarial)('1, 2, 4. so it is for %j', (input) => {
    expect(placementProblems(input, runPlanner(flexUlysses, { ...input, effort: 'fast' }))).toEqual([]);
  });

  test('3. no more tolerance than was asked for, above a balance that spreading everything reaches', () => {
    fc.assert(
      fc.property(batch, (input) => {
        const { balanceTolerance: tolerance } = input;
        const { limits, metrics, bounds } = runPlanner(flexUlysses, input);
        const even = runPlanner(flexUlysses, { ...input, balanceTolerance: 0 }).metrics.maxCompute;
        expect(metrics.maxCompute).toBeLessThanOrEqual(limits.compute * (1 + 1e-9));
        expect(limits.compute).toBeLessThanOrEqual((1 + tolerance) * Math.max(even, bounds.compute) * (1 + 1e-9));
      }),
      runs(30),
    );
  });

  test('10. an earlier plan of another batch is no obstacle, and nothing but a start', () => {
    fc.assert(
      fc.property(batch, batch, (earlier, input) => {
        const previous = runPlanner(flexUlysses, { ...earlier, effort: 'fast' });
        const plan = runPlanner(flexUlysses, { ...input, previous });
        expect(placementProblems(input, plan)).toEqual([]);
        expect(plan.limits).toEqual(runPlanner(flexUlysses, input).limits);
      }),
      runs(30),
    );
  });

  test('10. a batch that has changed little costs little more with its earlier plan than before', () => {
    fc.assert(
      fc.property(batch, fc.nat(39), fc.integer({ min: 1, max: 50 }), (input, index, less) => {
        const before = runPlanner(flexUlysses, input);
        const lengths = input.lengths.map((one, at) => (at === index ? Math.max(0, one - less) : one));
        const after = runPlanner(flexUlysses, { ...input, lengths, previous: before });
        expect(placementProblems({ ...input, lengths }, after)).toEqual([]);
        const whole = runPlanner(flexUlysses, { ...input, lengths }).metrics.communication;
        expect(after.metrics.communication).toBeLessThanOrEqual(
          Math.max(before.metrics.communication, whole) * 1.02 + 1e-6,
        );
      }),
      runs(40),
    );
  });
});
