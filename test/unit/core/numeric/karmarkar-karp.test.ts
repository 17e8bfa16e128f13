import { describe, expect, test } from 'vitest';
import { karmarkarKarp } from '../../../../src/planners/micro-batches/index.ts';
import { generator, sum } from '../../../support/basics/numbers.ts';
import { refusal } from '../../../support/basics/refusal.ts';

describe('karmarkarKarp', () => {
  const fig3 = [32_768, 16_384, 4096, 4096, 4096, 4096, 4096, 4096];

  test('gives what verl gives, with equal sizes and without', () => {
    expect(karmarkarKarp(fig3, 4, { equalSize: true })).toEqual([
      [0, 2],
      [1, 3],
      [4, 7],
      [5, 6],
    ]);
    expect(karmarkarKarp(fig3, 4)).toEqual([[0], [1], [2, 4, 7], [3, 5, 6]]);
    expect(karmarkarKarp([6, 6, 5, 5], 2)).toEqual([
      [1, 2],
      [0, 3],
    ]);
    expect(karmarkarKarp([6, 6, 5, 5], 2, { equalSize: true })).toEqual([
      [1, 2],
      [0, 3],
    ]);
    expect(karmarkarKarp([0, 0, 0], 2)).toEqual([[0, 1], [2]]);
  });

  test('with fewer items than parts, where verl refuses, parts are empty', () => {
    expect(karmarkarKarp([3, 5], 4)).toEqual([[1], [0], [], []]);
    expect(karmarkarKarp([], 2)).toEqual([[], []]);
    expect(karmarkarKarp([], 2, { equalSize: true })).toEqual([[], []]);
  });

  test('one part takes all', () => expect(karmarkarKarp([2, 9, 4], 1)).toEqual([[0, 1, 2]]));

  test('parts come by descending workload', () => {
    const next = generator(5);
    const workloads = Array.from({ length: 300 }, () => Math.floor(next() * 1000));
    const sums = karmarkarKarp(workloads, 7).map((part) => sum(part.map((index) => workloads[index]!)));
    expect(sums).toEqual([...sums].sort((a, b) => b - a));
    expect(sums[0]! - sums.at(-1)!).toBeLessThan(5);
  });

  test('many items and parts take no quadratic time', () => {
    const next = generator(9);
    const workloads = Array.from({ length: 65_536 }, () => Math.floor(next() ** 4 * 1e6));
    expect(karmarkarKarp(workloads, 4096).flat()).toHaveLength(65_536);
  });

  test('refuses what is no workload, and no number of parts', () => {
    expect(refusal(() => karmarkarKarp([1, -1], 2))).toMatchObject({ code: 'invalid_input', path: 'workloads[1]' });
    expect(refusal(() => karmarkarKarp([Number.NaN], 2))).toMatchObject({ path: 'workloads[0]' });
    expect(refusal(() => karmarkarKarp([Number.POSITIVE_INFINITY], 2))).toMatchObject({ path: 'workloads[0]' });
    expect(refusal(() => karmarkarKarp([1], 0))).toMatchObject({ path: 'k', got: '0' });
    expect(refusal(() => karmarkarKarp([1], 1.5))).toMatchObject({ path: 'k' });
    expect(refusal(() => karmarkarKarp([1, 2, 3], 2, { equalSize: true }))).toMatchObject({ path: 'workloads' });
  });
});
