/** Random numbers by name, and the normal distribution, against published values. */
import { describe, expect, it, test } from 'vitest';
import { normal, normalDistribution, normalQuantile, pickIndex, uniform } from '../../../../src/sim/workload/random.ts';

describe('normalQuantile', () => {
  // Abramowitz and Stegun, Table 26.5 and the values that AS 241 gives for its own check.
  it.each([
    [0.5, 0],
    [0.25, -0.6744897501960817],
    [0.75, 0.6744897501960817],
    [0.9, 1.2815515655446004],
    [0.95, 1.6448536269514722],
    [0.975, 1.959963984540054],
    [0.99, 2.3263478740408408],
    [0.999, 3.090232306167813],
    [0.001, -3.090232306167813],
    [1e-6, -4.753424308822899],
    [1e-9, -5.997807015007687],
    [1e-20, -9.262340089798409],
    [1e-100, -21.273453560965322],
  ])('of %s is %s', (share, wanted) => {
    expect(Math.abs(normalQuantile(share) - wanted)).toBeLessThan(2e-13 * Math.max(1, Math.abs(wanted)));
  });

  it('is symmetric and grows, across the seams of its three pieces', () => {
    let last = Number.NEGATIVE_INFINITY;
    for (let step = 1; step < 2000; step += 1) {
      const value = normalQuantile(step / 2000);
      expect(value).toBeGreaterThan(last);
      expect(value).toBeCloseTo(-normalQuantile(1 - step / 2000), 12);
      last = value;
    }
    for (const seam of [0.075, 0.925, Math.exp(-25)]) {
      const step = normalQuantile(seam * (1 + 1e-12)) - normalQuantile(seam * (1 - 1e-12));
      expect(step).toBeGreaterThan(0);
      expect(step).toBeLessThan(1e-10);
    }
  });

  it('is infinite at the ends', () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('normalDistribution', () => {
  it.each([
    [0, 0.5],
    [1, 0.8413447460685429],
    [-1, 0.15865525393145707],
    [1.959963984540054, 0.975],
    [2.5, 0.9937903346742238],
    [-3, 0.0013498980316301035],
    [-5, 2.866515719235352e-7],
    [8, 1],
  ])('of %s is %s', (x, wanted) => {
    expect(Math.abs(normalDistribution(x) - wanted)).toBeLessThan(1e-7);
  });

  it('is the inverse of the quantile, grows, and stays within 0 and 1', () => {
    let last = 0;
    for (let step = 1; step < 1000; step += 1) {
      const share = normalDistribution(normalQuantile(step / 1000));
      expect(Math.abs(share - step / 1000)).toBeLessThan(1e-7);
      expect(share).toBeGreaterThan(last);
      last = share;
    }
    expect(normalDistribution(Number.NEGATIVE_INFINITY)).toBe(0);
    expect(normalDistribution(Number.POSITIVE_INFINITY)).toBe(1);
  });
});

const draws = (count: number, of: (index: number) => number): number[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** χ² of counts against equal shares, less its mean, over its standard deviation. */
function surprise(values: readonly number[], cells: number): number {
  const counts = new Array<number>(cells).fill(0);
  for (const value of values) counts[Math.floor(value * cells)]! += 1;
  const wanted = values.length / cells;
  const chi = counts.reduce((sum, one) => sum + (one - wanted) ** 2 / wanted, 0);
  return (chi - (cells - 1)) / Math.sqrt(2 * (cells - 1));
}

describe('numbers by name', () => {
  it('are fixed by their keys, whatever was drawn before', () => {
    const first = uniform(1, 2, 3);
    uniform(9);
    normal(1, 2, 3);
    expect(uniform(1, 2, 3)).toBe(first);
    // A change of these is a change of every simulation.
    expect([uniform(1, 2, 3), uniform(0), normal(7, 1), pickIndex(1000, 5, 6)]).toMatchInlineSnapshot(`
      [
        0.7453552649062298,
        0.30255486622119265,
        -0.17601166590057543,
        81,
      ]
    `);
  });

  it('differ with each key, its place, and how many there are', () => {
    const keys = [
      [],
      [0],
      [1],
      [-1],
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 2, 3],
      [3, 2, 1],
      [2 ** 31],
      [2 ** 32 + 1],
      [2 ** 40],
    ];
    expect(new Set(keys.map((list) => uniform(...list))).size).toBe(keys.length);
  });

  it.each([
    ['the seed', (index: number) => uniform(index, 3, 4)],
    ['a key in the middle', (index: number) => uniform(1, index, 4)],
    ['the last key', (index: number) => uniform(1, 2, index)],
    ['every second number', (index: number) => uniform(1, 2 * index)],
  ])('are uniform over %s', (_, of) => {
    const values = draws(20_000, of);
    expect(values.filter((value) => !(value >= 0 && value < 1))).toEqual([]);
    expect(Math.abs(surprise(values, 64))).toBeLessThan(4);
    // Neighbours know nothing of each other: pairs fill a square evenly.
    const pairs = values.slice(1).map((one, index) => (Math.floor(one * 8) + values[index]!) / 8);
    expect(Math.abs(surprise(pairs, 64))).toBeLessThan(4);
    const low = values.map((one) => (one * 4096) % 1);
    expect(Math.abs(surprise(low, 64))).toBeLessThan(4);
  });

  it('are standard normal', () => {
    const values = draws(40_000, (index) => normal(3, index));
    const moment = (power: number) => values.reduce((sum, one) => sum + one ** power, 0) / values.length;
    expect(Math.abs(moment(1))).toBeLessThan(0.02);
    expect(Math.abs(moment(2) - 1)).toBeLessThan(0.03);
    expect(Math.abs(moment(3))).toBeLessThan(0.06);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(0.2);
    expect(values.filter((value) => !Number.isFinite(value))).toEqual([]);
  });

  it('pick every index about as often, and none beyond', () => {
    const counts = new Array<number>(7).fill(0);
    for (let index = 0; index < 14_000; index += 1) counts[pickIndex(7, 11, index)]! += 1;
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);
    expect(pickIndex(1, 5)).toBe(0);
  });
});

test('a safe whole number is a seed of its own, also beyond 32 bits', () => {
  const seeds = [1, 2 ** 32 + 1, 2 ** 33 + 1, Number.MAX_SAFE_INTEGER, -1, -(2 ** 32) - 1];
  expect(new Set(seeds.map((seed) => uniform(seed, 1, 1))).size).toBe(seeds.length);
});
