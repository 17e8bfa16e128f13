/** FlexRL's tables: what follows from what (arithmetic). */
import { describe, expect, test } from 'vitest';
import { type StepRow, table1, table2 } from '../../../../bench/papers/flexrl-tables.ts';

const one = (id: string, scheduler: string, frames?: number): StepRow =>
  table2.find((row) => row.id === id && row.scheduler === scheduler && (frames ?? row.frames) === row.frames)!;

describe('arithmetic of Table 1', () => {
  test('its steps are the sums of all five columns, data loading included', () => {
    for (const { seconds } of table1) {
      const step = seconds[5];
      expect(Math.abs(seconds.slice(0, 5).reduce((sum: number, part) => sum + part, 0) - step)).toBeLessThan(0.05);
    }
  });

  test('its ratios follow from its seconds to the digits that are printed', () => {
    const [{ seconds: baseline }] = table1;
    for (const { seconds, ratios } of table1) {
      ratios.forEach((ratio, column) => {
        expect(Math.abs(baseline[column]! / seconds[column]! - ratio)).toBeLessThan(0.0061);
      });
    }
  });

  test('the text has other numbers for the same ablation: 84.09 and 4.68', () => {
    const shadow = table1[1];
    expect(shadow.ratios[3]).toBe(96.15);
    expect(shadow.ratios[5]).toBe(5.35);
  });
});

describe('arithmetic of Table 2', () => {
  test('a step is rollout, old, reference and update, with 0.06 to 0.27 s more: data loading is not in it', () => {
    for (const { rollout, old, reference, update, step } of table2) {
      const rest = step - rollout - old - reference - update;
      expect(rest).toBeGreaterThan(0.05);
      expect(rest).toBeLessThan(0.27);
    }
  });

  test('throughput × GPUs × step is the tokens of a batch: 8,490 a sequence at 64 frames of only-video, 12,546 at 96', () => {
    const tokens = (row: StepRow): number => (row.throughput * row.gpus * row.step) / row.sequences;
    const videos = table2.filter((row) => row.mixture === 'only-video');
    for (const row of videos)
      expect(Math.abs(tokens(row) / (row.frames === 64 ? 8490 : 12_546) - 1)).toBeLessThan(0.006);
    // 127 tokens a frame, and 378 of text and response.
    expect((12_546 - 8490) / 32).toBeCloseTo(126.75, 2);
  });

  test('the speedups of the text are ratios of throughput: 7.35, 5.35 and 8.47, all without data loading', () => {
    const speedup = (id: string): number => one(id, 'flexrl').throughput / one(id, 'verl-bucketing').throughput;
    expect(speedup('CR-13')).toBeCloseTo(7.35, 2);
    expect(speedup('CR-02')).toBeCloseTo(5.35, 1);
    expect(speedup('CR-12')).toBeCloseTo(8.47, 2);
    const withLoading = ({ step, load }: StepRow): number => step + load;
    expect(withLoading(one('CR-12', 'verl-bucketing')) / withLoading(one('CR-12', 'flexrl'))).toBeCloseTo(14.95, 2);
  });

  test('rows that are compared do not always have the same tokens: CR-04 has 17 % more for FlexRL', () => {
    const tokens = (row: StepRow): number => row.throughput * row.gpus * row.step;
    expect(tokens(one('CR-04', 'flexrl')) / tokens(one('CR-04', 'verl-bucketing', 256))).toBeCloseTo(1.17, 2);
  });

  test('CR-03 has videos of nearly equal length, two a GPU: no balance explains 8 × between degree 1 and 4', () => {
    expect(one('CR-03', 'verl-bucketing').reference / one('CR-03', 'ulysses-4').reference).toBeGreaterThan(8);
  });
});
