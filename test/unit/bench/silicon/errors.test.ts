/** Rank correlations against values that were counted by hand, and errors with what was not measured. */
import { describe, expect, test } from 'vitest';
import { errorsOf, type Predicted, predicted } from '../../../../bench/scorecard/silicon/errors.ts';
import { type Point, readPoints } from '../../../../bench/scorecard/silicon/points.ts';
import { pointsFile } from '../../../../bench/scorecard/silicon/study.ts';
import { type Pair, tauB } from '../../../../bench/scorecard/silicon/tau.ts';

const pairs = (predictedValues: readonly number[], measured: readonly number[], groups = measured): Pair[] =>
  predictedValues.map((one, index) => [one, measured[index]!, groups[index]!]);

describe('tau-b', () => {
  test('without ties: agreeing less disagreeing pairs, over all', () => {
    expect(tauB([pairs([1, 2, 3, 4], [10, 20, 30, 40])])).toBe(1);
    expect(tauB([pairs([4, 3, 2, 1], [10, 20, 30, 40])])).toBe(-1);
    // One of six pairs disagrees.
    expect(tauB([pairs([1, 2, 4, 3], [10, 20, 30, 40])])).toBeCloseTo(4 / 6);
  });

  test('with ties on both sides', () => {
    // Pairs: 5 agree, 1 is tied in the predictions, none disagrees: 5 / √(5 · 6).
    expect(tauB([pairs([1, 2, 2, 3], [1, 2, 3, 4])])).toBeCloseTo(5 / Math.sqrt(30));
    // Tied in both: in no sum. 5 agree of 5.
    expect(tauB([pairs([1, 2, 2, 3], [1, 2, 2, 3])])).toBe(1);
    expect(tauB([pairs([1, 1], [1, 1])])).toBeNull();
    expect(tauB([])).toBeNull();
  });

  test('counts pairs inside of groups only, and only those that are asked for', () => {
    expect(tauB([pairs([1, 2], [1, 2]), pairs([5, 4], [0, 1])])).toBe(0);
    const list = pairs([1, 1, 2], [3, 1, 4], [8, 8, 4]);
    expect(tauB([list])).toBeCloseTo(2 / Math.sqrt(6));
    expect(tauB([list], ([, , a], [, , b]) => a !== b)).toBe(1);
  });
});

const { points } = readPoints(pointsFile);
const llama = points.find(({ model, served }) => /8B/.test(model.name) && served.gpus === 2)!;
const withTimes = (point: Point, tpot: number | undefined, ttft: number | undefined): Point => ({
  ...point,
  tpotSeconds: tpot,
  ttftSeconds: ttft,
});

describe('errors', () => {
  test('are relative to what was measured', () => {
    const { tpotSeconds, ttftSeconds } = predicted(llama);
    const list = [1, 1.5].map((factor) => predicted(withTimes(llama, tpotSeconds / factor, ttftSeconds / factor)));
    const { rows, tpot, ttft } = errorsOf(list);
    expect(rows).toBe(2);
    expect(tpot.mape).toBeCloseTo(0.25);
    expect(tpot.within25).toBe(0.5);
    expect(ttft.mape).toBeCloseTo(0.25);
  });

  test('leave out the measure that a run does not have', () => {
    const list = [predicted(withTimes(llama, undefined, 1)), predicted(withTimes(llama, undefined, 2))];
    expect(errorsOf(list)).toMatchObject({ rows: 2, tpot: { mape: null, within25: null, tau: null, tauTp: null } });
    expect(errorsOf(list).ttft.mape).not.toBeNull();
    expect(errorsOf([])).toMatchObject({ rows: 0, ttft: { median: null } });
  });

  test('tau over TP has pairs that differ in their GPUs, and in nothing else', () => {
    const at = (gpus: number, ours: number, measured: number, changes: Partial<Point> = {}): Predicted => ({
      point: { ...llama, served: { ...llama.served, gpus }, tpotSeconds: measured, ...changes },
      tpotSeconds: ours,
      parts: { fixed: ours, sequence: 0, prefill: 0 },
      ttftSeconds: 1,
      running: 1,
      fits: true,
    });
    const right = [at(2, 4, 4), at(4, 3, 3), at(8, 2, 2)];
    expect(errorsOf(right).tpot.tauTp).toBe(1);
    expect(errorsOf([...right, at(8, 2, 9)]).tpot.tauTp).toBeCloseTo(1 / 5);
    // The same GPUs, and another load: no pairs.
    expect(errorsOf([at(2, 4, 4), at(2, 4, 5)]).tpot.tauTp).toBeNull();
    const other = { load: { ...llama.load, concurrency: 999 } };
    expect(errorsOf([at(2, 4, 4), at(4, 3, 5, other)]).tpot.tauTp).toBeNull();
  });
});

test('weights that do not fit are predicted with the cache of one request', () => {
  const tight: Point = { ...llama, served: { ...llama.served, gpu: { ...llama.gpu, memoryGb: 8 }, gpus: 1 } };
  const found = predicted(tight);
  expect(found).toMatchObject({ fits: false, running: expect.closeTo(1, 0) });
  expect(found.tpotSeconds).toBeGreaterThan(0);
});
