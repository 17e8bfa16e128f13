import { describe, expect, test } from 'vitest';
import { vlmModel } from '../../../../src/sim/vlm-formulas/models.ts';
import { pictureOf } from '../../../../src/sim/vlm-formulas/picture.ts';
import {
  fixedUlysses,
  flexrlScheduler,
  placeBatch,
  type VlmScheduler,
  verlBucketing,
} from '../../../../src/sim/vlm-formulas/scheduler.ts';
import { defineVlmJob } from '../../../../src/sim/vlm-formulas/settings.ts';
import { balanceOf, deviceLoads, stageSeconds } from '../../../../src/sim/vlm-formulas/stage.ts';
import {
  allToAllSeconds,
  attentionSeconds,
  linearSeconds,
  visionSeconds,
} from '../../../../src/sim/vlm-formulas/timing.ts';
import { lengthOf, type VlmSample } from '../../../../src/sim/vlm-formulas/workload/sample.ts';
import { text, video } from '../../../support/simulator/vlm.ts';

const job = defineVlmJob({ gpus: 4, batchSequences: 4 });
const model = vlmModel(job.model);
const loadsOf = (scheduler: VlmScheduler, batch: readonly VlmSample[]) =>
  deviceLoads(placeBatch(scheduler, batch, job), batch, job);

describe('what a device has', () => {
  test('bucketing: whole sequences, the longest first, each on the least loaded device', () => {
    const loads = loadsOf(verlBucketing, [text(1000), text(4000), text(2000), text(3000)]);
    expect(loads.map((one) => one.tokens)).toEqual([4000, 3000, 2000, 1000]);
    expect(loads.map((one) => one.squares)).toEqual([16e6, 9e6, 4e6, 1e6]);
    expect(balanceOf(loads)).toBeCloseTo(16 / 7.5, 9);
    expect(loads.every((one) => one.allToAllSeconds === 0)).toBe(true);
    const slowest = linearSeconds(model, job.gpu, 4000) + 36 * attentionSeconds(32, 16e6, 4000);
    expect(stageSeconds(loads, 'bucketing', 'forward')).toBeCloseTo(slowest, 12);
  });

  test('Ulysses: all devices of a group have the same, and send', () => {
    const loads = loadsOf(fixedUlysses(4), [text(1000), text(4000)]);
    expect(new Set(loads.map((one) => one.squares))).toEqual(new Set([17e6 / 4]));
    expect(balanceOf(loads)).toBe(1);
    // One pack of 5000 tokens: one all-to-all a layer.
    expect(loads[3]!.allToAllSeconds).toBeCloseTo(36 * allToAllSeconds(5000, 4, { gpu: 'h800' }), 12);
  });

  test('vision tower: whole where sequences are whole, by every rank of a fixed group, spread by FlexUlysses', () => {
    const batch = [video(80), text(100), text(100), text(100)];
    const visual = (scheduler: VlmScheduler) => loadsOf(scheduler, batch).map((one) => one.visualTokens);
    expect(visual(verlBucketing)).toEqual([8000, 0, 0, 0]);
    expect(visual(fixedUlysses(2))).toEqual([8000, 8000, 0, 0]);
    expect(visual(flexrlScheduler)).toEqual([2000, 2000, 2000, 2000]);
    expect(loadsOf(flexrlScheduler, batch)[0]!.visionSeconds).toBeCloseTo(visionSeconds(model, job.gpu, 2000), 12);
  });

  test('FlexUlysses hides all-to-alls behind attention; an update has more passes', () => {
    const load = {
      squares: 1,
      tokens: 1,
      visualTokens: 0,
      visionSeconds: 1,
      linearSeconds: 2,
      attentionSeconds: 3,
      allToAllSeconds: 2,
    };
    expect(stageSeconds([load], 'ulysses', 'forward')).toBe(8);
    expect(stageSeconds([load], 'flex-ulysses', 'forward')).toBe(6);
    expect(stageSeconds([load], 'flex-ulysses', 'update')).toBe(4 * 6);
    expect(stageSeconds([load], 'ulysses', 'update')).toBe(4 * 6 + 3 * 2);
    expect(stageSeconds([load, { ...load, linearSeconds: 9 }], 'ulysses', 'forward')).toBe(15);
  });

  test('FlexUlysses has all frames encoded before the backbone begins; the others need no frame of another device', () => {
    const load = { squares: 1, tokens: 1, visualTokens: 0, linearSeconds: 1, attentionSeconds: 0, allToAllSeconds: 0 };
    const loads = [
      { ...load, visionSeconds: 5 },
      { ...load, visionSeconds: 1, linearSeconds: 3 },
    ];
    expect(stageSeconds(loads, 'bucketing', 'forward')).toBe(6);
    expect(stageSeconds(loads, 'flex-ulysses', 'forward')).toBe(8);
  });

  test('a degree that does not divide the GPUs or the heads is infeasible, with the scheduler named', () => {
    const refused = (degree: number) => () => placeBatch(fixedUlysses(degree), [text(1)], job);
    expect(refused(3)).toThrow(/ulysses-3: expected a power of two that divides 4 GPUs and 32 heads, got 3/);
    expect(refused(8)).toThrow(expect.objectContaining({ code: 'infeasible' }));
  });

  test('a batch without sequences, or of nothing but empty ones, is balanced', () => {
    expect(balanceOf(loadsOf(verlBucketing, []))).toBe(1);
    expect(balanceOf(loadsOf(flexrlScheduler, [text(0)]))).toBe(1);
  });
});

describe('the picture', () => {
  const batch = [video(80), video(10), text(3000), text(200), text(100), video(20)];
  test.each([verlBucketing, fixedUlysses(2), fixedUlysses(4), flexrlScheduler])(
    '$label: ends when the stage ends, each shard once on each device of its group, none at the same time',
    (scheduler) => {
      const plan = placeBatch(scheduler, batch, job);
      const loads = deviceLoads(plan, batch, job);
      const { seconds, shards, degrees } = pictureOf(plan, batch, loads, job, scheduler.placement);
      expect(seconds).toBeCloseTo(stageSeconds(loads, scheduler.placement, 'forward'), 9);
      expect(degrees).toEqual(plan.assignments.map((one) => one.degree));
      for (const { sequence, devices } of plan.assignments) {
        const own = shards.filter((one) => one.sequence === sequence);
        expect(own.map((one) => one.device).sort()).toEqual(lengthOf(batch[sequence]!) === 0 ? [] : devices);
        expect(new Set(own.map((one) => one.startSeconds)).size).toBe(1);
      }
      for (let device = 0; device < job.gpus; device += 1) {
        const own = shards.filter((one) => one.device === device).sort((a, b) => a.startSeconds - b.startSeconds);
        own.slice(1).forEach((one, at) => {
          expect(one.startSeconds).toBeGreaterThanOrEqual(own[at]!.endSeconds - 1e-12);
        });
      }
    },
  );
});
