import { describe, expect, test } from 'vitest';
import { draftBudget, runPlanner } from '../../../src/index.ts';

/** An engine whose steps are as long up to 180 tokens, and then grow. */
const engine = {
  passSeconds: [
    { tokens: 1, seconds: 0.0083 },
    { tokens: 180, seconds: 0.0083 },
    { tokens: 2048, seconds: 0.065 },
  ],
  drafter: { passSeconds: 0.0009, stepSeconds: 0.0003 },
  maxDraftTokens: 8,
  prior: { acceptance: 0.6, tokens: 20 },
};
const planOf = (sequences: number, more: object = {}) =>
  runPlanner(draftBudget, { ...engine, ...more, groups: [{ sequences }] });

describe('draft-budget', () => {
  test('the more sequences a step has, the fewer tokens are drafted for each', () => {
    const budgets = [1, 8, 32, 64, 128, 256, 512].map((sequences) => planOf(sequences).draftTokens);
    expect(budgets[0]).toBeGreaterThanOrEqual(3);
    expect(budgets).toEqual([...budgets].sort((a, b) => b - a));
    expect(budgets.slice(-2)).toEqual([0, 0]);
  });

  test('nothing is drafted where nothing is accepted, or where no engine can', () => {
    const seen = [{ offered: 10_000, accepted: 0 }];
    expect(planOf(1, { seen })).toMatchObject({ draftTokens: 0, speedup: 1 });
    expect(planOf(1, { maxDraftTokens: 0 }).draftTokens).toBe(0);
  });

  test('drafts beyond the end of a response count for nothing', () => {
    const groups = [{ sequences: 1, remainingTokens: 2 }];
    expect(runPlanner(draftBudget, { ...engine, groups }).draftTokens).toBeLessThanOrEqual(1);
  });

  test.each([
    ['more accepted than offered', { seen: [{ offered: 1, accepted: 2 }] }, 'seen[0].accepted'],
    [
      'more offered than before',
      {
        seen: [
          { offered: 1, accepted: 1 },
          { offered: 2, accepted: 1 },
        ],
      },
      'seen[1].offered',
    ],
    [
      'points out of order',
      {
        passSeconds: [
          { tokens: 8, seconds: 1 },
          { tokens: 8, seconds: 1 },
        ],
      },
      'passSeconds[1].tokens',
    ],
    ['no group', { groups: [] }, 'groups'],
  ])('refuses %s', (_, wrong, path) => {
    expect(() => runPlanner(draftBudget, { ...engine, groups: [{ sequences: 1 }], ...wrong })).toThrow(
      expect.objectContaining({ code: 'invalid_input', path }),
    );
  });
});
