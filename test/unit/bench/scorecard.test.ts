/** The split of the scorecard is declared: a row that moves from validation to fitted shows here. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { errorOf } from '../../../bench/scorecard/row.ts';
import { rows } from '../../../bench/scorecard/rows.ts';

const fitted = rows.filter(({ use }) => use === 'fitted');
const ids = (paper: string): string[] => fitted.filter((one) => one.paper === paper).map(({ id }) => id);

test('every row has a place, a figure and a use, and no two have the same id', () => {
  expect(new Set(rows.map(({ paper, id }) => `${paper} ${id}`)).size).toBe(rows.length);
  for (const { where, what, printed } of rows) {
    expect(where).toMatch(/^(Table|Figure|§)/);
    expect(what).not.toBe('');
    for (const one of [printed].flat()) expect(Number.isFinite(one)).toBe(true);
  }
});

test('what is fitted', () => {
  expect(ids('RollPacker')).toMatchInlineSnapshot(`
    [
      "lengths-p75",
      "lengths-longest",
      "lengths-over-2k",
      "lengths-over-4k",
      "share-math-rollout",
      "share-math-reward",
      "share-math-training",
      "share-code-rollout",
      "share-code-reward",
      "share-code-training",
      "share-judge-rollout",
      "share-judge-reward",
      "share-judge-training",
      "longest-short",
      "rollout-7b",
      "rollout-7b-r1.125",
      "rollout-7b-r1.25",
      "rollout-7b-r1.5",
      "rollout-7b-p1.125",
      "rollout-7b-p1.25",
      "rollout-7b-p1.5",
      "rollout-14b",
      "rollout-14b-r1.125",
      "rollout-14b-r1.25",
      "rollout-14b-r1.5",
      "rollout-14b-p1.125",
      "rollout-14b-p1.25",
      "rollout-14b-p1.5",
      "rollout-32b",
      "joint-over-r",
      "joint-over-p",
      "preemptions",
      "preempted-short",
      "preempted-long",
      "preemptions-tp2-short",
      "preempted-tp2-short",
      "tail-7b",
      "planner-7b",
      "step-short-7b",
      "step-long-7b",
      "planner-speedup",
      "planner-preemptions",
      "planner-short",
      "timeout-fixed",
      "scaling-off",
      "scaling-30",
    ]
  `);
  expect(ids('RolloutPipe').length).toMatchInlineSnapshot(`38`);
  expect(ids('FlexRL').length).toMatchInlineSnapshot(`124`);
  expect(
    createHash('sha256')
      .update(fitted.map(({ paper, id }) => `${paper} ${id}`).join('\n'))
      .digest('hex'),
  ).toMatchInlineSnapshot(`"718b1f34f2dbe3e8bc58aa8be10e2a00abea1ca08a4d8d37486dddf2da9cd285"`);
  const counted = rows.filter(({ isPart }) => isPart !== true);
  expect(counted.filter(({ use }) => use === 'validation').length).toMatchInlineSnapshot(`134`);
});

test('an error is relative, and from the nearer end of a range', () => {
  expect(errorOf({ printed: 50 }, 55)).toBeCloseTo(0.1);
  expect(errorOf({ printed: [10, 20] }, 15)).toBe(0);
  expect(errorOf({ printed: [10, 20] }, 5)).toBeCloseTo(-0.5);
  expect(errorOf({ printed: [10, 20] }, 30)).toBeCloseTo(0.5);
});
