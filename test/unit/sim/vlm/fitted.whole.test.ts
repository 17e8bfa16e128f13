/** How well the simulator meets FlexRL's tables: twenty seconds of simulations. */
import { describe, expect, test } from 'vitest';
import {
  allToAllErrors,
  attentionErrors,
  columns,
  figure5,
  figure7,
  fittedRows,
  meanError,
  stepErrors,
} from '../../../../bench/papers/flexrl.ts';
import { table5 } from '../../../../bench/papers/flexrl-tables.ts';

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe('what was fitted', () => {
  test('attention: Table 3 within 3 % from its two end points', () => {
    const errors = attentionErrors().map(Math.abs);
    expect(Math.max(errors[0]!, errors.at(-1)!)).toBeLessThan(1e-3);
    for (const error of errors) expect(error).toBeLessThan(0.03);
  });

  test('all-to-all: Table 5 within 25 % on average, 18 rows each', () => {
    expect(table5).toHaveLength(18);
    expect(mean(allToAllErrors('h200').map(Math.abs))).toBeLessThan(0.08);
    expect(mean(allToAllErrors('h800').map(Math.abs))).toBeLessThan(0.16);
  });

  const rows = stepErrors();
  const fitted = rows.filter(({ row }) => fittedRows.includes(row.id));
  const predicted = rows.filter(({ row }) => !fittedRows.includes(row.id));
  const limits = { tokens: 0.07, load: 0.08, rollout: 0.12, old: 0.33, reference: 0.3, update: 0.3, step: 0.17 };

  test.each(columns)(
    'Table 2, %s: fitted rows are closer than predicted ones, and these within their limit',
    (column) => {
      expect(meanError(fitted, column)).toBeLessThan(limits[column] / 1.5);
      expect(meanError(predicted, column)).toBeLessThan(limits[column]);
    },
  );

  test.each(figure5())('$what: $paper', ({ paper, ours }) => {
    expect(Math.abs(ours / paper - 1)).toBeLessThan(0.25);
  });

  test('Figure 7: a higher degree balances better, but does not go faster; FlexRL does', () => {
    const [, two, four, eight, flexrl] = figure7().schedulers;
    expect(two!.balance).toBeGreaterThan(four!.balance);
    expect(four!.balance).toBeGreaterThan(eight!.balance);
    expect(eight!.throughput).toBeLessThan(four!.throughput);
    expect(flexrl!.throughput).toBeGreaterThan(Math.max(two!.throughput, four!.throughput));
    expect(flexrl!.balance).toBeLessThan(1.1);
  });
});
