import { describe, expect, test } from 'vitest';
import {
  binFloor,
  binOf,
  deviationsOf,
  LengthHistory,
  savedHistory,
} from '../../../src/policies/gpu-scale-down/projection.ts';

const cap = 32_768;
const historyOf = (lengths: readonly number[], maxTokens = cap) => {
  const history = new LengthHistory(maxTokens);
  for (const tokens of lengths) history.add(tokens);
  history.close(1);
  return history;
};

describe('bins', () => {
  test('numbers below 32 have one each; above, a bin is at most a sixteenth of its numbers wide', () => {
    const values = Array.from({ length: 100_000 }, (_, value) => value);
    expect(values.filter((value) => binFloor(binOf(value)) > value || binFloor(binOf(value) + 1) <= value)).toEqual([]);
    for (let bin = 32; bin < binOf(2 ** 30); bin += 1) {
      expect((binFloor(bin + 1) - binFloor(bin)) / binFloor(bin)).toBeLessThanOrEqual(1 / 16);
    }
  });
});

describe('survival', () => {
  test('without a history nothing is known', () => {
    expect(new LengthHistory(cap).curve()).toBeUndefined();
  });

  test('it follows the lengths, and is never 0', () => {
    const lengths = Array.from({ length: 10_000 }, (_, index) => index + 1);
    const curve = historyOf(lengths).curve()!;
    expect(curve.at(0)).toBe(1);
    for (const at of [100, 1000, 5000, 9000]) expect(curve.at(at)).toBeCloseTo(1 - at / 10_000, 2);
    expect(curve.at(20_000)).toBeGreaterThan(0);
    expect(curve.at(20_000)).toBeLessThan(2e-4);
    for (let at = 101; at <= cap; at += 101) expect(curve.at(at)).toBeLessThanOrEqual(curve.at(at - 101));
  });

  test('what reaches the cap, or is said to go beyond it, was there until the cap', () => {
    const curve = historyOf([100, 100, 100, 1000, 1000, 2000], 1000).curve()!;
    expect(curve.at(999)).toBeCloseTo(4 / 7, 6);
    expect(curve.at(1000)).toBeCloseTo(4 / 7, 6);
  });
});

describe('the history', () => {
  test('a round counts when it is closed, and earlier ones fade', () => {
    const history = new LengthHistory(1000);
    for (let index = 0; index < 99; index += 1) history.add(100);
    expect(history.curve()).toBeUndefined();
    history.close(0.5);
    expect(history.curve()!.at(500)).toBeCloseTo(0.01, 6);
    for (let round = 0; round < 12; round += 1) {
      for (let index = 0; index < 99; index += 1) history.add(900);
      history.close(0.5);
    }
    expect(history.curve()!.at(500)).toBeGreaterThan(0.999);
    // A thousandth of a request is forgotten in the end.
    for (let round = 0; round < 20; round += 1) {
      history.add(900);
      history.close(0.5);
    }
    expect(history.save().closed).toHaveLength(1);
  });

  test('a round in which nothing ended makes nothing fade', () => {
    const history = historyOf([5, 5, 9]);
    const before = history.save();
    history.close(0);
    expect(history.save()).toEqual(before);
  });

  test('it is saved and loaded whole, the open round too', () => {
    const history = historyOf([1, 40, 40, 900, 70_000]);
    history.add(77);
    const saved = JSON.parse(JSON.stringify(history.save()));
    expect(savedHistory.parse(saved)).toEqual(saved);
    const again = new LengthHistory(cap, saved);
    expect(again.save()).toEqual(saved);
    history.close(0.9);
    again.close(0.9);
    expect(again.save()).toEqual(history.save());
  });
});

test('quantiles of the normal distribution', () => {
  const known = [
    [0.5, 0],
    [0.05, 1.644854],
    [0.025, 1.959964],
    [0.001, 3.090232],
    [1e-6, 4.753424],
  ] as const;
  for (const [above, value] of known) expect(Math.abs(deviationsOf(above) - value)).toBeLessThan(0.00045);
});
