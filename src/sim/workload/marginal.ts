/**
 * Workloads from a marginal distribution of response lengths and one within-prompt correlation ρ, joined by a Gaussian
 * copula: z = √ρ · z_prompt + √(1 − ρ) · z_sample, length = Q(Φ(z)).
 */
import { refuse } from '../../errors.ts';
import type { QuantileRow } from '../trace/quantiles.ts';
import { normal, normalDistribution, uniform } from './random.ts';
import { capped, checkWorkload, type Workload, type WorkloadPrompt } from './workload.ts';

/** A quantile function: from a share in (0, 1) to tokens. */
export type Quantile = (share: number) => number;

/** Options of a workload from a marginal distribution. */
export interface MarginalOptions {
  /** Name for readers, in tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source?: string;
  /** Lengths of responses, as a quantile function. */
  readonly responseTokens: Quantile;
  /** Lengths of prompts, as a quantile function. */
  readonly promptTokens: Quantile;
  /** ρ, from 0 (samples of a prompt are independent) to below 1. */
  readonly correlation: number;
  /** Longest response, a whole number >= 1. */
  readonly capTokens: number;
  /** Seed, a safe whole number. */
  readonly seed: number;
}

const promptKey = 1;
const sampleKey = 2;
const inputKey = 3;

/** Returns a workload from a marginal distribution. Throws `invalid_input` for ρ outside [0, 1), and for an invalid cap or seed. */
export function marginalWorkload(options: MarginalOptions): Workload {
  const { correlation, seed, capTokens } = options;
  checkWorkload(options);
  if (!(correlation >= 0 && correlation < 1)) {
    refuse('invalid_input', 'correlation', 'a correlation in [0, 1)', correlation);
  }
  const [shared, own] = [Math.sqrt(correlation), Math.sqrt(1 - correlation)];
  return {
    name: options.name,
    source: options.source ?? 'marginal distribution',
    resampling: 'marginal',
    correlation,
    capTokens,
    distinctPrompts: Number.POSITIVE_INFINITY,
    prompt: (index: number): WorkloadPrompt => {
      const effect = shared * normal(seed, promptKey, index);
      return {
        promptId: `${options.name}-${index}`,
        promptTokens: Math.max(1, Math.round(options.promptTokens(uniform(seed, inputKey, index)))),
        sample: (k) => {
          const share = normalDistribution(effect + own * normal(seed, sampleKey, index, k));
          return capped(options.responseTokens(Math.min(1 - 1e-9, Math.max(1e-9, share))), capTokens);
        },
      };
    },
  };
}

/** Interpolates linearly between values at 0, 1, …, n (as shares 0 to 1). */
export function interpolated(values: readonly number[]): Quantile {
  const last = values.length - 1;
  return (share) => {
    const at = Math.min(last, Math.max(0, share * last));
    const below = Math.floor(at);
    const above = Math.min(last, below + 1);
    return values[below]! + (at - below) * (values[above]! - values[below]!);
  };
}

/** Returns the quantile function of a mixture of clients, weighted by their rates. */
export function pooledQuantile(rows: readonly QuantileRow[], field: 'inputTokens' | 'outputTokens'): Quantile {
  const points = rows
    .filter((row) => row.rps > 0)
    .flatMap((row) => {
      const quantile = interpolated(row[field]);
      // Each client is represented by 200 equally likely values.
      return Array.from({ length: 200 }, (_, index) => ({ tokens: quantile((index + 0.5) / 200), weight: row.rps }));
    })
    .sort((a, b) => a.tokens - b.tokens);
  if (points.length === 0) {
    refuse('invalid_input', 'rps', 'a client with a rate above 0', 'none');
  }
  const total = points.reduce((sum, point) => sum + point.weight, 0);
  const cumulative: number[] = [];
  let sum = 0;
  for (const point of points) cumulative.push((sum += point.weight) / total);
  return (share) => {
    let [low, high] = [0, points.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! < share) low = middle + 1;
      else high = middle;
    }
    return points[low]!.tokens;
  };
}

/** A long-tailed marginal distribution: a lognormal body and, with weight w, a Pareto tail that begins at a threshold. */
export interface LongTail {
  /** Median of the body, in tokens. */
  readonly medianTokens: number;
  /** Standard deviation of the logarithm of the body. */
  readonly sigma: number;
  /** w: share of responses in the tail. */
  readonly tailWeight: number;
  /** Tokens at which the tail begins. */
  readonly tailStartTokens: number;
  /** Exponent of the Pareto tail; smaller is heavier. */
  readonly tailExponent: number;
}

const steps = 4000;
/** Above this share, the quantile function is far from linear between two entries of the table. */
const tableEnds = 0.995;

/**
 * Returns the quantile function of a long tail, by bisection of its distribution function: the body uses a table, the tail is
 * computed for each call.
 */
export function longTailQuantile(shape: LongTail): Quantile {
  const { medianTokens, sigma, tailWeight, tailStartTokens, tailExponent } = shape;
  const below = (tokens: number): number => {
    const body = normalDistribution(Math.log(tokens / medianTokens) / sigma);
    const tail = tokens <= tailStartTokens ? 0 : 1 - (tailStartTokens / tokens) ** tailExponent;
    return (1 - tailWeight) * body + tailWeight * tail;
  };
  const exactly = (share: number): number => {
    const wanted = Math.min(1 - 1e-7, Math.max(1e-7, share));
    let [low, high] = [1e-3, 1e9];
    for (let round = 0; round < 80; round += 1) {
      const middle = Math.sqrt(low * high);
      if (below(middle) < wanted) low = middle;
      else high = middle;
    }
    return high;
  };
  const inTable = interpolated(Array.from({ length: steps + 1 }, (_, index) => exactly(index / steps)));
  return (share) => (share > tableEnds ? exactly(share) : inTable(share));
}
