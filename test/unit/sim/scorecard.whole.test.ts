/** The presets hold what docs/reproduction.md says of them, with one seed. */
import { describe, expect, test } from 'vitest';
import { measures } from '../../../bench/scorecard/measure.ts';
import { scored } from '../../../bench/scorecard/report.ts';
import { rows } from '../../../bench/scorecard/rows.ts';

const measure = measures([1]);
const rollpacker = rows
  .filter(({ paper, use }) => paper === 'RollPacker' && use === 'fitted')
  .map((row) => scored(row, measure(row)));

describe('RollPacker', () => {
  test.each(rollpacker)('$where, $what: $printed', ({ error }) => {
    expect(Math.abs(error)).toBeLessThan(0.25);
  });

  test('four of five fitted rows are within 10 %', () => {
    const near = rollpacker.filter(({ error }) => Math.abs(error) <= 0.1);
    expect(near.length / rollpacker.length).toBeGreaterThan(0.8);
  });
});
