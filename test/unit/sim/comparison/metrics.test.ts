/** From a finished run to its numbers, checked against docs/metrics.md by hand. */
import fc from 'fast-check';
import { quantileSorted } from 'simple-statistics';
import { describe, expect, it, test } from 'vitest';
import type { EngineRow } from '../../../../src/sim/cluster/engines/engine-rows.ts';
import { type FinishedRun, quantileOf, ratio, summarizeRun, sumOf } from '../../../../src/sim/comparison/metrics.ts';
import type { StepResult } from '../../../../src/sim/comparison/result.ts';
import { step } from '../../../support/simulator/comparison.ts';
import { plainJob } from '../../../support/simulator/host.ts';
import { allKept } from '../../../support/simulator/kept.ts';

describe('quantileOf', () => {
  it('interpolates between neighbours', () => {
    expect([0, 0.1, 0.25, 0.5, 1].map((share) => quantileOf([10, 20, 40], share))).toEqual([10, 12, 15, 20, 40]);
    expect(quantileOf([7], 0.3)).toBe(7);
    expect(quantileOf([], 0.5)).toBe(0);
  });

  it('lies within the range, grows with the share, and is near the rank', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1 }), (list) => {
        const ascending = Float64Array.from(list).sort();
        let last = ascending[0]!;
        for (const share of [0, 0.2, 0.5, 0.77, 1]) {
          const value = quantileOf(ascending, share);
          expect(value).toBeGreaterThanOrEqual(last);
          expect(value).toBeLessThanOrEqual(ascending[ascending.length - 1]!);
          last = value;
        }
        if (list.length % 2 === 1) expect(quantileOf(ascending, 0.5)).toBe(quantileSorted([...ascending], 0.5));
      }),
    );
  });
});

test('sums and ratios of nothing are 0', () => {
  expect(sumOf([], (one: number) => one)).toBe(0);
  expect(sumOf([1, 2], (one) => 2 * one)).toBe(6);
  expect(ratio(3, 0)).toBe(0);
  expect(ratio(3, 2)).toBe(1.5);
});

describe('summarizeRun', () => {
  const row = (rowId: string, busySeconds: number, preemptions: number): EngineRow => ({
    rowId,
    busySeconds,
    preemptions,
    segments: [],
  });
  const steps: StepResult[] = [
    { ...step(0, 'short', 0, 10), queueAges: [], cappedResponses: 1 },
    {
      ...step(1, 'long', 16, 30),
      staleTokens: 2500,
      laggingTokens: 4000,
      lag: 2,
      queueAges: [4, 1],
      cappedResponses: 3,
      prompts: 2,
      responses: 4,
      keptTokens: 6000,
    },
  ];
  const run: FinishedRun = {
    job: plainJob({ engines: 2, promptsPerRound: 4, responsesPerPrompt: 2 }, { gpus: 4, fixedRolloutSeconds: 2 }),
    scheduler: 'mine',
    seed: 9,
    steps,
    // As text, 9 would come after 100.
    lengths: [100, 9, 20, 1000],
    rows: [row('e0', 36, 1), row('e1', 9, 0)],
    segments: [[{ startSeconds: 0, endSeconds: 1, activity: 'sync', running: 0 }], []],
    kept: allKept,
  };
  const result = summarizeRun(run);

  it('adds steps up', () => {
    expect(result).toMatchObject({
      scheduler: 'mine',
      seed: 9,
      totalSeconds: 52,
      rolloutSeconds: 40,
      trainedPrompts: 6,
      trainedResponses: 12,
      keptTokens: 10_000,
      generatedTokens: 10_000,
      meanResponseTokens: 10_000 / 12,
      cappedShare: 4 / 12,
      preemptions: 1,
      meanQueueAge: 2.5,
      maxQueueAge: 4,
      kept: allKept,
      staleTokens: 2500,
      meanLag: 0.4,
      maxLag: 2,
    });
  });

  it('counts bubbles from the launch on, without the fixed seconds of a rollout', () => {
    expect(result.bubbleRatio).toBeCloseTo(1 - 45 / (2 * 36), 12);
    expect(result.engines.map((one) => one.bubbleRatio)).toEqual([0, 0.75]);
    expect(result.engines.map((one) => [one.engineId, one.gpus, one.busySeconds, one.timeline.length])).toEqual([
      ['e0', 4, 36, 1],
      ['e1', 4, 9, 0],
    ]);
    const over = summarizeRun({ ...run, rows: [row('e0', 36.0000001, 0), row('e1', 36, 0)] });
    expect(over.bubbleRatio).toBe(0);
    expect(over.engines[0]!.bubbleRatio).toBe(0);
  });

  it('sorts lengths as numbers, and leaves them as they were', () => {
    expect(result.lengthQuantiles).toHaveLength(101);
    expect([0, 50, 100].map((at) => result.lengthQuantiles[at])).toEqual([9, 60, 1000]);
    expect(run.lengths).toEqual([100, 9, 20, 1000]);
  });

  it('is all zero for a run without a step', () => {
    const nothing = summarizeRun({ ...run, steps: [], lengths: [], rows: [row('e0', 0, 0)], segments: [[]] });
    for (const value of Object.values(nothing)) if (typeof value === 'number' && value !== 9) expect(value).toBe(0);
    expect(nothing.lengthQuantiles.every((one) => one === 0)).toBe(true);
  });
});
