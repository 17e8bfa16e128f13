/** Engines that differ from the time model by known factors are measured, and the factors have to be found again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DecodePoint, partsOf } from '../../../../src/sim/calibration/decode-point.ts';
import { pointsOfRequests, type TimedRequest } from '../../../../src/sim/calibration/from-requests.ts';
import {
  afterMeasuring,
  beliefFrom,
  deviationsOf,
  durationOf,
  factorsOf,
  machinePrior,
  slowedBy,
  unmeasuredMachine,
} from '../../../../src/sim/calibration/machine.ts';
import { calibrateOnSite } from '../../../../src/sim/calibration/on-site.ts';
import { DecodeEngine } from '../../../../src/sim/engine/decode-engine.ts';
import { jobPreset } from '../../../../src/sim/models/presets.ts';
import { runs } from '../../../support/basics/runs.ts';

const { job } = jobPreset('qwen2.5-14b-16k');
const { cost } = job;
const secondsOf = (of: typeof cost, point: DecodePoint): number => {
  const { fixed, sequence, prefill } = partsOf(of, point);
  return fixed + sequence + prefill;
};
const factor = fc.double({ min: 0.5, max: 2, noNaN: true });
const loads: fc.Arbitrary<DecodePoint> = fc.record({
  running: fc.double({ min: 1, max: 256, noNaN: true }),
  contextTokens: fc.double({ min: 0, max: 20_000, noNaN: true }),
  secondsPerToken: fc.constant(1),
  prefillTokens: fc.double({ min: 0, max: 4, noNaN: true }),
});
const factors = fc.record({ fixed: factor, sequence: factor, prefill: factor });

describe('the machine', () => {
  test('of which nothing was measured is that of the model, within what configurations differ by', () => {
    const belief = beliefFrom(cost, [], unmeasuredMachine());
    expect(factorsOf(belief)).toEqual({ fixed: 1, sequence: 1, prefill: 1 });
    const { seconds, logDeviation } = durationOf(belief, { fixed: 2, sequence: 0, prefill: 0 });
    expect([seconds, logDeviation]).toEqual(
      [2, Math.hypot(machinePrior.fixed, machinePrior.load)].map((x) => expect.closeTo(x, 12)),
    );
    expect(durationOf(unmeasuredMachine(true), { fixed: 1, sequence: 1, prefill: 1 }).logDeviation).toBeGreaterThan(
      durationOf(unmeasuredMachine(), { fixed: 1, sequence: 1, prefill: 1 }).logDeviation,
    );
  });

  test('slower costs are slower by part', () => {
    fc.assert(
      fc.property(loads, factors, (load, by) => {
        const [before, after] = [partsOf(cost, load), partsOf(slowedBy(cost, by), load)];
        for (const part of ['fixed', 'sequence', 'prefill'] as const)
          expect(after[part]).toBeCloseTo(before[part] * by[part], 12);
      }),
      runs(100),
    );
  });

  test('is closer to each measured point than the model was, and surer; the order of points does not matter', () => {
    fc.assert(
      fc.property(fc.array(loads, { minLength: 1, maxLength: 6 }), factors, (points, by) => {
        const measured = points.map((one) => ({ ...one, secondsPerToken: secondsOf(slowedBy(cost, by), one) }));
        const belief = beliefFrom(cost, measured, unmeasuredMachine());
        const missed = (error: (one: DecodePoint) => number) => measured.reduce((sum, one) => sum + error(one) ** 2, 0);
        const ours = missed((one) => Math.log(durationOf(belief, partsOf(cost, one)).seconds / one.secondsPerToken));
        const before = missed((one) => Math.log(secondsOf(cost, one) / one.secondsPerToken));
        expect(ours).toBeLessThanOrEqual(before + 1e-9);
        for (const one of measured)
          expect(durationOf(belief, partsOf(cost, one)).logDeviation).toBeLessThan(
            durationOf(unmeasuredMachine(), partsOf(cost, one)).logDeviation,
          );
        const backward = beliefFrom(cost, [...measured].reverse(), unmeasuredMachine());
        for (const [at, one] of belief.logFactors.entries()) expect(backward.logFactors[at]).toBeCloseTo(one, 5);
        for (const one of deviationsOf(belief))
          for (const value of Object.values(one)) expect(value).toBeGreaterThan(0);
      }),
      runs(200),
    );
  });

  test('is found by many points with different batches', () => {
    const by = { fixed: 1.3, sequence: 0.7, prefill: 1 };
    const points = [1, 2, 4, 8, 16, 32, 64, 128, 256].flatMap((running) =>
      [500, 4000, 16_000].map((contextTokens) => ({ running, contextTokens, secondsPerToken: 1, prefillTokens: 0 })),
    );
    const measured = points.map((one) => ({ ...one, secondsPerToken: secondsOf(slowedBy(cost, by), one) }));
    const found = factorsOf(beliefFrom(cost, measured, unmeasuredMachine()));
    expect(found.fixed).toBeCloseTo(1.3, 1);
    expect(found.sequence).toBeCloseTo(0.7, 1);
    expect(found.prefill).toBe(1);
  });

  test('of a kind that nobody has measured is what its points say, at loads between them, too', () => {
    const far = fc.double({ min: 10, max: 200, noNaN: true });
    fc.assert(
      fc.property(far, fc.double({ min: 0.7, max: 1.4, noNaN: true }), (pace, own) => {
        const slow = slowedBy(cost, { fixed: pace, sequence: pace * own, prefill: pace });
        const points = [4, 8, 16, 32, 64].map((running) => {
          const load = { running, contextTokens: 4000, secondsPerToken: 1, prefillTokens: 0 };
          return { ...load, secondsPerToken: secondsOf(slow, load) };
        });
        const belief = beliefFrom(cost, points, unmeasuredMachine());
        for (const running of [5, 12, 50]) {
          const load = { running, contextTokens: 4000, secondsPerToken: 1, prefillTokens: 0 };
          expect(durationOf(belief, partsOf(cost, load)).seconds / secondsOf(slow, load)).toBeCloseTo(1, 1);
        }
      }),
      runs(50),
    );
  });

  test('a measured duration of two parts says nothing of the third', () => {
    const { covariance } = afterMeasuring(unmeasuredMachine(), [
      { parts: { fixed: 1, sequence: 1, prefill: 0 }, measuredSeconds: 3 },
    ]);
    expect(covariance[2]).toEqual([0, 0, machinePrior.prefill ** 2]);
  });
});

describe('calibrateOnSite', () => {
  test('gives the costs at every tensor parallelism, and what is not known', () => {
    const { job: calibrated, points } = calibrateOnSite(job, [
      { running: 64, contextTokens: 3000, secondsPerToken: 0.05 },
    ]);
    expect(calibrated.machine).toMatchObject({ logFactors: [0, 0, 0], points: 1 });
    expect(points[0]!.calibratedSeconds).toBeCloseTo(secondsOf(calibrated.cost, points[0]!), 12);
    const ratio = calibrated.cost.overheadSeconds / cost.overheadSeconds;
    for (const [at, { cost: one }] of calibrated.hardware!.costs.entries())
      expect(one.overheadSeconds / job.hardware!.costs[at]!.cost.overheadSeconds).toBeCloseTo(ratio, 12);
  });

  test.each([
    [[], ''],
    [[{ running: 0, contextTokens: 1, secondsPerToken: 1 }], '[0].running'],
    [[{ running: 1, contextTokens: 1, secondsPerToken: Number.NaN }], '[0].secondsPerToken'],
  ])('refuses %j', (points, path) => {
    expect(() => calibrateOnSite(job, points)).toThrow(expect.objectContaining({ code: 'invalid_input', path }));
  });
});

test('points of requests are those of the engine that they ran on', () => {
  const engine = new DecodeEngine('e', cost);
  const requests: TimedRequest[] = [];
  // The first seconds are prefills of all, which must not count as time for tokens.
  const lengths = Array.from({ length: 192 }, (_, index) => 100 + ((index * 7919) % 97) ** 2);
  for (const [index, tokens] of lengths.entries())
    engine.add({ requestId: `${index}`, promptTokens: 300, responseTokens: tokens }, 0);
  for (let at = engine.nextEventAt(); at < Infinity; at = engine.nextEventAt()) {
    for (const { at: endSeconds, tokens } of engine.advanceTo(at))
      requests.push({ startSeconds: 0, endSeconds, contextTokens: 300, tokens });
  }
  const points = pointsOfRequests(requests, 1, cost.maxRunningSequences);
  expect(points.length).toBeGreaterThanOrEqual(3);
  for (const one of points) {
    const ratio = secondsOf(cost, one) / one.secondsPerToken;
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  }
});
