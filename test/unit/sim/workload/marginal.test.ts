/** Workloads from a marginal and one correlation, and the quantile functions that they are made of. */
import { describe, expect, it, test } from 'vitest';
import type { QuantileRow } from '../../../../src/sim/trace/quantiles.ts';
import {
  interpolated,
  type LongTail,
  longTailQuantile,
  marginalWorkload,
  pooledQuantile,
} from '../../../../src/sim/workload/marginal.ts';
import { normalDistribution, normalQuantile } from '../../../../src/sim/workload/random.ts';
import { estimateCorrelation } from '../../../../src/sim/workload/scores.ts';
import { tracedWorkload } from '../../../../src/sim/workload/traced.ts';
import { capped } from '../../../../src/sim/workload/workload.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const exponential = (share: number): number => -1000 * Math.log(1 - share);
const options = {
  name: 'mine',
  responseTokens: exponential,
  promptTokens: (share: number) => 100 * share,
  correlation: 0.4,
  capTokens: 100_000,
  seed: 3,
};

describe('marginalWorkload', () => {
  const samples = (correlation: number, prompts = 3000, each = 6) => {
    const workload = marginalWorkload({ ...options, correlation });
    return Array.from({ length: prompts }, (_, index) => ({
      prompt: `${index}`,
      responses: Array.from({ length: each }, (_unused, k) => ({ tokens: workload.prompt(index).sample(k).tokens })),
    }));
  };

  it.each([0, 0.4, 0.9])('keeps the marginal, with a correlation of %s', (correlation) => {
    // One response a prompt: those of one prompt are not independent.
    const lengths = samples(correlation, 20_000, 1).map(({ responses }) => responses[0]!.tokens);
    for (const share of [0.05, 0.25, 0.5, 0.75, 0.95, 0.99]) {
      const below = lengths.filter((one) => one <= exponential(share)).length / lengths.length;
      expect(Math.abs(below - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / 20_000) + 0.001);
    }
  });

  it.each([0, 0.2, 0.5, 0.9])('has the correlation %s that it is given', (correlation) => {
    expect(Math.abs(estimateCorrelation(samples(correlation)) - correlation)).toBeLessThan(0.03);
  });

  it('gives prompts of their own lengths, at least one token', () => {
    const workload = marginalWorkload(options);
    const lengths = Array.from({ length: 2000 }, (_, index) => workload.prompt(index).promptTokens);
    expect(Math.min(...lengths)).toBe(1);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100);
    expect(Math.abs(lengths.reduce((sum, one) => sum + one, 0) / 2000 - 50)).toBeLessThan(2.5);
  });

  it('cuts at the cap, and says so', () => {
    const workload = marginalWorkload({ ...options, capTokens: 700 });
    const all = Array.from({ length: 4000 }, (_, k) => workload.prompt(k).sample(0));
    expect(all.filter(({ tokens, capped: isCapped }) => tokens > 700 || isCapped !== (tokens === 700))).toEqual([]);
    const share = all.filter((one) => one.capped).length / all.length;
    expect(Math.abs(share - Math.exp(-0.7))).toBeLessThan(0.03);
  });

  it('depends on seed, prompt and k alone', () => {
    const [one, other] = [marginalWorkload(options), marginalWorkload(options)];
    other.prompt(7).sample(9);
    expect(other.prompt(3).sample(2)).toEqual(one.prompt(3).sample(2));
    expect(one.prompt(3).promptId).toBe('mine-3');
    const seeded = marginalWorkload({ ...options, seed: 4 });
    const list = (workload: typeof one) => Array.from({ length: 9 }, (_, k) => workload.prompt(0).sample(k).tokens);
    expect(list(seeded)).not.toEqual(list(one));
  });

  it('says what it is', () => {
    expect(marginalWorkload(options)).toMatchObject({
      name: 'mine',
      source: 'marginal distribution',
      resampling: 'marginal',
      correlation: 0.4,
      distinctPrompts: Number.POSITIVE_INFINITY,
    });
  });

  it.each([-0.1, 1, 1.5, Number.NaN])('refuses a correlation of %s', (correlation) => {
    const act = () => marginalWorkload({ ...options, correlation });
    expect(refusal(act)).toMatchObject({ code: 'invalid_input', path: 'correlation' });
  });
});

describe('caps and seeds', () => {
  it.each([
    ['capTokens', { capTokens: 0 }],
    ['capTokens', { capTokens: 10.5 }],
    ['capTokens', { capTokens: Number.POSITIVE_INFINITY }],
    ['seed', { seed: 0.5 }],
    ['seed', { seed: Number.NaN }],
  ])('that are none are refused: %s', (path, bad) => {
    const prompts = [{ prompt: 'a', responses: [{ tokens: 5 }] }];
    for (const act of [
      () => marginalWorkload({ ...options, ...bad }),
      () => tracedWorkload({ name: 'mine', prompts, capTokens: 10, seed: 1, ...bad }),
    ]) {
      expect(refusal(act)).toMatchObject({ code: 'invalid_input', path });
    }
  });
});

describe('interpolated', () => {
  it('is linear between its values, and constant beyond', () => {
    const quantile = interpolated([10, 20, 60]);
    expect([0, 0.25, 0.5, 0.75, 1, -1, 2].map(quantile)).toEqual([10, 15, 20, 40, 60, 10, 60]);
    expect(interpolated([5])(0.7)).toBe(5);
  });
});

describe('pooledQuantile', () => {
  const row = (rps: number, from: number, to: number): QuantileRow => {
    const list = Array.from({ length: 101 }, (_, percent) => from + ((to - from) * percent) / 100);
    return { rps, inputTokens: list, outputTokens: list.map((one) => 10 * one) };
  };

  it('weighs clients by their rates', () => {
    const quantile = pooledQuantile([row(3, 0, 100), row(1, 1000, 2000), row(0, 5000, 9000)], 'inputTokens');
    expect(Math.abs(quantile(0.375) - 50)).toBeLessThan(1);
    expect(quantile(0.74)).toBeLessThan(100);
    expect(quantile(0.76)).toBeGreaterThanOrEqual(1000);
    expect(Math.abs(quantile(0.875) - 1500)).toBeLessThan(10);
    expect(quantile(1)).toBeLessThanOrEqual(2000);
    expect(Math.abs(pooledQuantile([row(3, 0, 100)], 'outputTokens')(0.5) - 500)).toBeLessThan(5);
  });

  it('does not depend on the order of clients, nor on the unit of rates', () => {
    const rows = [row(3, 0, 100), row(1, 50, 2000), row(2, 10, 20)];
    const quantile = pooledQuantile(rows, 'inputTokens');
    const other = pooledQuantile(rows.map((one) => ({ ...one, rps: one.rps * 8 })).reverse(), 'inputTokens');
    for (let share = 0.005; share < 1; share += 0.01) expect(other(share)).toBe(quantile(share));
  });

  it('refuses clients without a rate', () => {
    for (const rows of [[], [row(0, 1, 2)]]) {
      expect(refusal(() => pooledQuantile(rows, 'inputTokens'))).toMatchObject({ code: 'invalid_input', path: 'rps' });
    }
  });
});

describe('longTailQuantile', () => {
  const beyond = (shape: LongTail, tokens: number): number => {
    const { medianTokens, sigma, tailWeight, tailStartTokens, tailExponent } = shape;
    const body = normalDistribution(-Math.log(tokens / medianTokens) / sigma);
    const tail = tokens <= tailStartTokens ? 1 : (tailStartTokens / tokens) ** tailExponent;
    return (1 - tailWeight) * body + tailWeight * tail;
  };
  const shapes: LongTail[] = [
    { medianTokens: 560, sigma: 0.64, tailWeight: 0.08, tailStartTokens: 2000, tailExponent: 0.72 },
    { medianTokens: 500, sigma: 0.5, tailWeight: 0.05, tailStartTokens: 1500, tailExponent: 3 },
    { medianTokens: 300, sigma: 0.3, tailWeight: 0.3, tailStartTokens: 4000, tailExponent: 1.5 },
  ];

  it.each(shapes)('inverts its distribution: exponent $tailExponent', (shape) => {
    const quantile = longTailQuantile(shape);
    for (const share of [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999]) {
      expect(Math.abs(beyond(shape, quantile(share)) / (1 - share) - 1)).toBeLessThan(0.01);
    }
  });

  it.each(shapes)('as far out as a workload draws: exponent $tailExponent', (shape) => {
    const quantile = longTailQuantile(shape);
    for (const share of [0.9998, 0.9999, 0.99999, 1 - 1e-6]) {
      const tokens = quantile(share);
      if (tokens < 1e8) expect(Math.abs(beyond(shape, tokens) / (1 - share) - 1)).toBeLessThan(0.02);
    }
  });

  it('without a tail is a lognormal', () => {
    const quantile = longTailQuantile({ ...shapes[0]!, tailWeight: 0 });
    for (const share of [0.1, 0.5, 0.99]) {
      expect(quantile(share) / (560 * Math.exp(0.64 * normalQuantile(share)))).toBeCloseTo(1, 3);
    }
  });

  it.each(shapes)('never falls: exponent $tailExponent', (shape) => {
    const quantile = longTailQuantile(shape);
    const lengths = Array.from({ length: 20_001 }, (_, step) => quantile(step / 20_000));
    expect(lengths.filter((tokens, step) => !(tokens >= (lengths[step - 1] ?? 0)))).toEqual([]);
    expect(Number.isFinite(lengths.at(-1))).toBe(true);
  });
});

test('capped cuts at the cap, rounds, and gives at least one token', () => {
  expect(capped(0.2, 10)).toEqual({ tokens: 1, capped: false });
  expect(capped(9.4, 10)).toEqual({ tokens: 9, capped: false });
  expect(capped(9.5, 10)).toEqual({ tokens: 10, capped: true });
  expect(capped(10, 10)).toEqual({ tokens: 10, capped: true });
  expect(capped(Number.POSITIVE_INFINITY, 10)).toEqual({ tokens: 10, capped: true });
});
