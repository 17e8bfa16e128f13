/** The invariants of judge-offload, by their numbers in its README. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPolicyError, judgeOffload, runPlanner } from '../../src/index.ts';
import type { JudgeOffloadInput } from '../../src/planners/judge-offload/index.ts';
import { runs } from '../support/basics/runs.ts';
import { simulateOffload, subsets } from '../support/oracles/judge-offload.ts';

/** 300 fixed, and 200 of activations at 10 tokens. */
const otherBytes = 500;
/** Evenly spread, unlike `fc.double`, which is mostly tiny. */
const upTo = (most: number) => fc.integer({ min: 1, max: 10_000 }).map((share) => (share * most) / 10_000);

/** Inputs in units of a layer: memory for 0 to `layers` + 2 of them, transfers from far faster to far slower. */
const inputs = (mostLayers: number) =>
  fc
    .record({
      layers: fc.integer({ min: 1, max: mostLayers }),
      slots: upTo(mostLayers + 2),
      layerSeconds: upTo(1),
      transferSeconds: upTo(3),
      overhead: fc.constantFrom(0, 0.1),
      actorSmShare: fc.oneof(fc.constant(0.7), upTo(1)),
      judgeSmShare: upTo(0.99).map((share) => share + 0.01),
      depth: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      latencyTolerance: fc.constantFrom(0, 0, 0.05, 0.5),
    })
    .map(({ layers, slots, layerSeconds, transferSeconds, overhead, depth, ...rest }): JudgeOffloadInput => {
      const layerBytes = 1000;
      return {
        ...rest,
        layers,
        layerBytes,
        fixedBytes: 300,
        sequenceTokens: 10,
        activationBytes: { base: 100, perToken: 5, perTokenSquared: 0.5 },
        layerSeconds: [
          { tokens: 5, value: 0 },
          { tokens: 15, value: 2 * layerSeconds },
        ],
        memoryBytes: otherBytes + slots * layerBytes,
        pcieBytesPerSecond: layerBytes / transferSeconds,
        transferOverheadSeconds: overhead,
        ...(depth === undefined ? {} : { maxPrefetchDepth: depth }),
      };
    });

const planOrNone = (input: JudgeOffloadInput) => {
  try {
    return runPlanner(judgeOffload, input);
  } catch (error) {
    if (isPolicyError(error) && error.code === 'infeasible') return undefined;
    throw error;
  }
};
const close = (one: number, other: number) => Math.abs(one - other) <= 1e-9 * Math.max(one, other);
const percentsLeft = ({ actorSmShare }: JudgeOffloadInput) => Math.floor((1 - actorSmShare) * 100 + 1e-9);
const secondsWith = (input: JudgeOffloadInput, percent: number) =>
  ((input.layerSeconds as { value: number }[])[1]!.value / 2) * Math.max(1, (100 * input.judgeSmShare!) / percent);

/** Every plan that fits, simulated: which layers, how many buffers, and how long with each share of the SMs. */
function allPlans(input: JudgeOffloadInput) {
  const slots = Math.floor((input.memoryBytes - otherBytes) / 1000);
  const transferSeconds = 1000 / input.pcieBytesPerSecond + input.transferOverheadSeconds!;
  const time = (streamed: readonly number[], buffers: number, percent: number) =>
    simulateOffload({
      layers: input.layers,
      streamed,
      buffers,
      layerSeconds: secondsWith(input, percent),
      transferSeconds,
    });
  const shapes = subsets(input.layers).flatMap((streamed) => {
    const room = slots - (input.layers - streamed.length);
    if (streamed.length === 0) return room >= 0 ? [{ streamed, buffers: 0 }] : [];
    const most = Math.min(room, streamed.length, input.maxPrefetchDepth ?? room);
    return Array.from({ length: Math.max(0, most) }, (_, index) => ({ streamed, buffers: index + 1 }));
  });
  return { shapes, time };
}

describe('judge-offload', () => {
  test('1. the predicted seconds are those of an event simulation of the same pipeline', () => {
    fc.assert(
      fc.property(inputs(40), (input) => {
        const plan = planOrNone(input);
        if (plan === undefined) return;
        const { streamedLayers: streamed, prefetchDepth: buffers, layerSeconds, transferSeconds } = plan;
        const given = { layers: input.layers, streamed, layerSeconds, transferSeconds };
        expect(plan.pipelinedSeconds).toBeCloseTo(simulateOffload({ ...given, buffers }), 9);
        expect(close(plan.pipelinedSeconds, simulateOffload({ ...given, buffers }))).toBe(true);
        expect(close(layerSeconds, secondsWith(input, plan.mpsShare * 100))).toBe(true);
        const alone = streamed.length * transferSeconds + input.layers * layerSeconds;
        expect(close(plan.sequentialSeconds, alone)).toBe(true);
        expect(plan.pipelinedSeconds).toBeLessThanOrEqual(alone * (1 + 1e-9));
      }),
      runs(1000),
    );
  });

  test('2. no plan that fits is faster, of all sets of layers and numbers of buffers', () => {
    fc.assert(
      fc.property(inputs(10), (given) => {
        const input = { ...given, latencyTolerance: 0 };
        const { shapes, time } = allPlans(input);
        const percent = percentsLeft(input);
        const least = Math.min(...shapes.map(({ streamed, buffers }) => time(streamed, buffers, percent)));
        const plan = planOrNone(input);
        if (plan === undefined) expect(least).toBe(Number.POSITIVE_INFINITY);
        else expect(plan.pipelinedSeconds).toSatisfy((one: number) => close(one, least), `as fast as ${least}`);
      }),
      runs(300),
    );
  });

  test('3. of the plans within the tolerance: fewest SMs, then fewest streamed layers, then fastest', () => {
    fc.assert(
      fc.property(inputs(6), (input) => {
        const plan = planOrNone(input);
        if (plan === undefined) return;
        const { shapes, time } = allPlans(input);
        const most = percentsLeft(input);
        const timed = Array.from({ length: most }, (_, index) => index + 1).flatMap((percent) =>
          shapes.map((one) => ({ ...one, percent, seconds: time(one.streamed, one.buffers, percent) })),
        );
        const limit = Math.min(...timed.map((one) => one.seconds)) * (1 + input.latencyTolerance! + 1e-9);
        const quick = timed.filter((one) => one.seconds <= limit);
        const percent = Math.min(...quick.map((one) => one.percent));
        const small = quick.filter((one) => one.percent === percent);
        const streamed = Math.min(...small.map((one) => one.streamed.length));
        const fewest = small.filter((one) => one.streamed.length === streamed);
        const seconds = Math.min(...fewest.map((one) => one.seconds));
        expect([plan.mpsShare, plan.streamedLayers.length]).toEqual([percent / 100, streamed]);
        expect(close(plan.pipelinedSeconds, seconds)).toBe(true);
      }),
      runs(40),
    );
  });

  test('4. a plan stays within the memory and the SMs that the actor leaves', () => {
    fc.assert(
      fc.property(inputs(60), (input) => {
        const plan = planOrNone(input);
        const most = percentsLeft(input);
        if (plan === undefined) {
          expect(input.memoryBytes < otherBytes + 1000 || most < 1).toBe(true);
          return;
        }
        expect(plan.memoryBytes).toBeLessThanOrEqual(input.memoryBytes);
        expect(plan.memoryBytes).toBeCloseTo(otherBytes + (plan.residentLayers + plan.prefetchDepth) * 1000, 6);
        expect(plan.residentLayers + plan.streamedLayers.length).toBe(input.layers);
        expect(new Set(plan.streamedLayers).size).toBe(plan.streamedLayers.length);
        expect(plan.mpsShare).toBeLessThanOrEqual(most / 100);
        expect(plan.prefetchDepth).toBeLessThanOrEqual(
          Math.min(input.maxPrefetchDepth ?? 60, plan.streamedLayers.length),
        );
      }),
      runs(1000),
    );
  });

  test('5. more memory, bandwidth or SMs never make a pass slower', () => {
    fc.assert(
      fc.property(inputs(40), (given) => {
        const input = { ...given, latencyTolerance: 0 };
        const plan = planOrNone(input);
        if (plan === undefined) return;
        for (const better of [
          { memoryBytes: input.memoryBytes * 1.3 },
          { pcieBytesPerSecond: input.pcieBytesPerSecond * 1.3 },
          { actorSmShare: input.actorSmShare * 0.7 },
        ]) {
          const other = runPlanner(judgeOffload, { ...input, ...better });
          expect(other.pipelinedSeconds).toBeLessThanOrEqual(plan.pipelinedSeconds * (1 + 1e-8));
        }
      }),
      runs(300),
    );
  });
});
