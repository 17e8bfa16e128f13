import { describe, expect, test } from 'vitest';
import { rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { compareVlm } from '../../../../src/sim/vlm-formulas/compare.ts';
import { fixedUlysses, flexrlScheduler, verlBucketing } from '../../../../src/sim/vlm-formulas/scheduler.ts';
import { defineVlmJob, vlmJobSchema } from '../../../../src/sim/vlm-formulas/settings.ts';
import { recordedVlmWorkload, textVlmWorkload } from '../../../../src/sim/vlm-formulas/workload/mixtures.ts';
import { batchOf, vlmSampleSchema } from '../../../../src/sim/vlm-formulas/workload/sample.ts';
import { mixture, text, video } from '../../../support/simulator/vlm.ts';

const job = defineVlmJob({ gpus: 16, batchSequences: 32 });

describe('mixtures', () => {
  test('are 5:2:1, 1:2:5, and long videos alone', () => {
    const share = (id: Parameters<typeof mixture>[0], keep: (kind: string, frames: number) => boolean) => {
      const batch = batchOf(mixture(id), 0, 4000);
      return batch.filter(({ kind, frames }) => keep(kind, frames)).length / batch.length;
    };
    const isImage = (kind: string): boolean => kind === 'image';
    expect(share('image-heavy', isImage)).toBeCloseTo(5 / 8, 1);
    expect(share('video-heavy', isImage)).toBeCloseTo(1 / 8, 1);
    expect(share('only-video', isImage)).toBe(0);
    expect(share('only-video', (_, frames) => frames === 64)).toBeGreaterThan(0.99);
  });

  test('keep the limit of frames and of responses, and every sample fits the schema', () => {
    for (const one of batchOf(mixture('video-heavy', 48), 3, 500)) {
      expect(vlmSampleSchema.safeParse(one).success).toBe(true);
      expect(one.frames).toBeLessThanOrEqual(48);
      expect(one.responseTokens).toBeLessThanOrEqual(1024);
    }
  });

  test('a sample depends on seed and index alone; a lower limit of frames changes nothing else', () => {
    const [a, b, c] = [mixture('image-heavy'), mixture('image-heavy'), mixture('image-heavy', 32)];
    const other = mixture('image-heavy', 64, 2);
    for (let index = 99; index >= 0; index -= 1) {
      expect(b.sample(index)).toEqual(a.sample(index));
      expect(c.sample(index).kind).toBe(a.sample(index).kind);
      expect(c.sample(index).responseTokens).toBe(a.sample(index).responseTokens);
    }
    expect(batchOf(other, 0, 20)).not.toEqual(batchOf(a, 0, 20));
    expect(() => mixture('image-heavy', 0)).toThrow(/maxFrames: expected a whole number >= 1, got 0/);
  });

  test('text: the responses of a prompt stand beside each other', () => {
    const workload = textVlmWorkload(rollpackerWorkload(2048, 1), 4);
    const prompts = batchOf(workload, 0, 8).map((one) => one.textTokens);
    expect(new Set(prompts.slice(0, 4)).size).toBe(1);
    expect(workload.sample(0).visualTokens).toBe(0);
    expect(workload.sample(5).responseTokens).toBe(rollpackerWorkload(2048, 1).prompt(1).sample(1).tokens);
  });
});

describe('compareVlm', () => {
  const result = compareVlm({ job, workload: mixture('image-heavy'), steps: 2 });
  const of = (id: string) => result.schedulers.find((one) => one.scheduler === id)!;

  test('is the same every time, and plain JSON', () => {
    const again = compareVlm({ job, workload: mixture('image-heavy'), steps: 2 });
    expect(again).toEqual(result);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  test('a step is its stages and what loading adds; throughput is tokens over both', () => {
    for (const one of result.schedulers) {
      const stages = one.rolloutSeconds + one.oldSeconds + one.referenceSeconds + one.updateSeconds;
      expect(one.gpuSeconds).toBeCloseTo(stages, 9);
      expect(one.stepSeconds).toBeCloseTo(stages + one.exposedLoadSeconds, 9);
      const tokens = one.throughput * job.gpus * one.stepSeconds;
      expect(tokens).toBeCloseTo(one.throughputWithoutLoading * job.gpus * one.gpuSeconds, 6);
      expect(tokens).toBeCloseTo(result.workload.meanTokens * job.batchSequences, 6);
    }
  });

  test('the baseline is 1, ShadowLoader takes the controller away, FlexUlysses the imbalance', () => {
    const baseline = of('verl-bucketing');
    expect([baseline.speedup, baseline.speedupWithoutLoading]).toEqual([1, 1]);
    expect(baseline.sentBytes).toBe(0);
    expect(of('verl-shadow').controllerBytes).toBe(0);
    expect(of('verl-shadow').speedup).toBeGreaterThan(2);
    expect(of('verl-shadow').balance).toBe(baseline.balance);
    expect(of('verl-flex-ulysses').balance).toBeLessThan(baseline.balance);
    expect(of('flexrl').updateSeconds).toBeLessThan(1.02 * of('verl-shadow').updateSeconds);
    expect(of('flexrl').balance).toBe(of('verl-flex-ulysses').balance);
  });

  test('all-to-all volume: h (p − 1) ÷ p tokens a layer, and bytes of heads, layers and passes', () => {
    const two = recordedVlmWorkload('two', [text(1000), text(600)], 1);
    const small = defineVlmJob({ gpus: 4, batchSequences: 2 });
    const [one] = compareVlm({ job: small, workload: two, steps: 1, schedulers: [fixedUlysses(4)] }).schedulers;
    expect(one!.sentTokens).toBe(1200);
    // (2 · 32 + 2 · 8) heads · 128 · 2 bytes, 36 layers, 2 forward passes and 3 of an update.
    expect(one!.sentBytes).toBe(1200 * 80 * 128 * 2 * 36 * 5);
  });

  test('says what has too little memory', () => {
    const poor = { ...job, controllerMemoryGb: 1, nodeMemoryGb: 0.1 };
    const { schedulers, notes } = compareVlm({ job: poor, workload: mixture('only-video'), steps: 1 });
    expect(schedulers.find((one) => one.scheduler === 'verl-bucketing')!.exceeded).toEqual(['controller']);
    expect(schedulers.find((one) => one.scheduler === 'flexrl')!.exceeded).toEqual(['node']);
    expect(notes.join()).toContain('veRL bucketing would not run: too little memory of controller');
    // 120,000 tokens do not fit on one GPU, but on eight.
    const batch = [{ ...video(1), visualTokens: 120_000 }, ...Array.from({ length: 31 }, () => text(500))];
    const giant = recordedVlmWorkload('giant', batch, 1);
    const run = compareVlm({ job, workload: giant, steps: 1, schedulers: [verlBucketing, flexrlScheduler] });
    expect(run.schedulers.map((one) => one.exceeded)).toEqual([['device'], []]);
  });

  test('refuses jobs and steps that make no sense', () => {
    expect(() => defineVlmJob({ gpus: 6 })).toThrow(
      /gpus: expected a multiple of 4, the tensor parallelism of MiMo-VL-7B/,
    );
    expect(() => defineVlmJob({ model: 'qwen2.5-vl-32b', gpus: 8 })).toThrow(/a multiple of 16/);
    expect(() => defineVlmJob({ model: 'gpt' as never })).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => compareVlm({ job, workload: mixture('image-heavy'), steps: 0 })).toThrow(/steps: expected/);
    expect(vlmJobSchema.parse({})).toMatchObject({ gpus: 32, batchSequences: 64 });
  });
});
