/** The modelled round by which `auto` compares widths, against figures worked out by hand. */
import { expect, test } from 'vitest';
import { modelledSeconds } from '../../../src/policies/frontier-group-dispatch/width.ts';

const step = { base: 0, slope: 0, contextSlope: 0, fastest: 0 };
const round = (lengths: number[][], more: object = {}, cost: Partial<typeof step> = { base: 1 }) => ({
  groups: lengths.length,
  groupsPerUpdate: 1,
  trainSecondsPerToken: 0,
  step: { ...step, ...cost },
  lengths: (group: number) => lengths[group]!,
  ...more,
});

test('a width of 1 runs one group after the other, a width of 2 both at once', () => {
  expect(modelledSeconds(round([[2], [4]]), 1)).toBe(6);
  expect(modelledSeconds(round([[2], [4]]), 2)).toBe(4);
  // The second place is free after 2 tokens; a group ends with the last of its responses.
  expect(modelledSeconds(round([[2], [4], [3]]), 2)).toBe(5);
  expect(modelledSeconds(round([[2, 1], [4], [1, 3]]), 2)).toBe(5);
});

test('a step takes longer with every request that runs: two at once gain nothing where all of its cost is theirs', () => {
  const shared = round([[2], [4]], {}, { slope: 1 });
  expect(modelledSeconds(shared, 1)).toBe(6);
  expect(modelledSeconds(shared, 2)).toBe(2 * 2 + 2);
});

test('it takes longer with the tokens in context, in the mean of those at its beginning and end', () => {
  expect(modelledSeconds(round([[4]], {}, { contextSlope: 1 }), 1)).toBe(4 * 2);
  // The second begins with an empty context.
  expect(modelledSeconds(round([[4], [2]], {}, { contextSlope: 1 }), 1)).toBe(4 * 2 + 2 * 1);
  expect(modelledSeconds(round([[4], [4]], {}, { contextSlope: 1 }), 2)).toBe(4 * 4);
});

test('no step is quicker than three quarters of the quickest that was seen', () => {
  expect(modelledSeconds(round([[2]], {}, { base: 1, fastest: 4 }), 1)).toBe(2 * 3);
  expect(modelledSeconds(round([[2]], {}, { base: 5, fastest: 4 }), 1)).toBe(2 * 5);
});

test('the trainer takes whole updates as they come, one after the other, and the last groups are one more', () => {
  const trains = { trainSecondsPerToken: 1 };
  expect(modelledSeconds(round([[2], [4]], trains), 1)).toBe(6 + 4);
  // It has waited from 2 to 4 only; what comes while it works waits.
  expect(modelledSeconds(round([[2], [4]], trains), 2)).toBe(4 + 4);
  expect(modelledSeconds(round([[4], [5]], trains), 2)).toBe(4 + 4 + 5);
  expect(modelledSeconds(round([[2], [4]], { ...trains, groupsPerUpdate: 2 }), 2)).toBe(4 + 6);
  expect(modelledSeconds(round([[2], [4], [5]], { ...trains, groupsPerUpdate: 2 }), 3)).toBe(4 + 6 + 5);
});
