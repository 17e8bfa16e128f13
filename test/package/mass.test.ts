/** No folder weighs more than CONTRIBUTING.md allows. */
import { expect, test } from 'vitest';
import { budgets, massOf, over } from '../../scripts/mass.ts';

test('the budgets of folders hold', () => {
  const all = budgets();
  expect(all.length).toBeGreaterThan(15);
  expect(over(all, massOf(all.map(({ folder }) => folder)))).toEqual([]);
});

test('5 % above is seen', () => {
  const all = [{ folder: 'src/core', lines: 1000 }];
  const [mass] = massOf(['src/core']);
  expect(over(all, [{ ...mass!, lines: 1050 }])).toEqual([]);
  expect(over(all, [{ ...mass!, lines: 1051 }])).toHaveLength(1);
});
