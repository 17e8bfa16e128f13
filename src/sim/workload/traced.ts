/**
 * Workloads from a trace: first the responses that were recorded, then, for those that never were (over-provisioning
 * needs more), resampled ones. How is part of the result, because it matters.
 *
 * - `within-prompt`: one of the prompt's own recorded responses, with replacement. Keeps each prompt's distribution,
 *   never exceeds its longest.
 * - `copula`: the trace's marginal with its own correlation, given the recorded responses of the prompt.
 * - `parametric`: a lognormal fitted to the prompt's recorded responses, its spread shrunk towards the trace's.
 */
import { PolicyError } from '../../errors.ts';
import { normal, normalDistribution, normalQuantile, pickIndex } from '../random.ts';
import type { TracePrompt } from '../trace/format.ts';
import { capped, type Sample, type Workload, type WorkloadPrompt } from './workload.ts';

/** How responses that were never recorded are made. */
export const resamplingMethods = ['within-prompt', 'copula', 'parametric'] as const;
/** How responses that were never recorded are made. */
export type Resampling = (typeof resamplingMethods)[number];

/** What a workload from a trace needs. */
export interface TracedOptions {
  readonly name: string;
  readonly source?: string;
  readonly prompts: readonly TracePrompt[];
  readonly resampling?: Resampling;
  readonly capTokens: number;
  readonly seed: number;
}

interface Scored {
  /** Every recorded length of the trace, ascending. */
  readonly sorted: readonly number[];
  /** Mean normal score of each prompt's responses, and how many they are. */
  readonly scores: readonly { readonly mean: number; readonly count: number }[];
  readonly correlation: number;
}

/** The normal score of a length among all of the trace; ties share their middle rank. */
function scorer(sorted: readonly number[]): (tokens: number) => number {
  const first = (tokens: number, orEqual: boolean): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orEqual ? sorted[middle]! <= tokens : sorted[middle]! < tokens) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (tokens) => normalQuantile((first(tokens, false) + first(tokens, true)) / 2 / sorted.length || 0.5);
}

function score(prompts: readonly TracePrompt[]): Scored {
  const sorted = prompts.flatMap((prompt) => prompt.responses.map((one) => one.tokens)).sort((a, b) => a - b);
  const toScore = scorer(sorted);
  let [products, pairs, squares, values] = [0, 0, 0, 0];
  const scores = prompts.map(({ responses }) => {
    const list = responses.map((one) => toScore(one.tokens));
    const sum = list.reduce((total, one) => total + one, 0);
    const square = list.reduce((total, one) => total + one * one, 0);
    products += sum * sum - square;
    pairs += list.length * (list.length - 1);
    squares += square;
    values += list.length;
    return { mean: sum / list.length, count: list.length };
  });
  const correlation = pairs === 0 ? 0 : products / pairs / (squares / values);
  return { sorted, scores, correlation: Math.min(0.999, Math.max(0, correlation)) };
}

/** ρ of a trace: the correlation of the normal scores of two responses of one prompt. */
export function estimateCorrelation(prompts: readonly TracePrompt[]): number {
  return score(prompts).correlation;
}

const shuffleKey = 11;
const sampleKey = 12;
const effectKey = 13;

/** A workload from a trace. Throws `invalid_input` for a trace without prompts. */
export function tracedWorkload(options: TracedOptions): Workload {
  const { prompts, seed, capTokens, resampling = 'within-prompt' } = options;
  if (prompts.length === 0) {
    throw new PolicyError('invalid_input', { expected: 'at least one prompt', got: 'none', path: options.name });
  }
  const scored = score(prompts);
  const orders = new Map<number, readonly number[]>();
  const order = (epoch: number): readonly number[] => {
    const known = orders.get(epoch) ?? shuffled(prompts.length, seed, epoch);
    orders.set(epoch, known);
    return known;
  };
  const draw = samplers(scored, seed)[resampling];
  return {
    name: options.name,
    source: options.source ?? 'trace',
    resampling: `recorded, then ${resampling}`,
    correlation: scored.correlation,
    capTokens,
    distinctPrompts: prompts.length,
    prompt: (index): WorkloadPrompt => {
      const epoch = Math.floor(index / prompts.length);
      const row = order(epoch)[index % prompts.length]!;
      const { prompt, promptTokens, task, responses } = prompts[row]!;
      const recorded = epoch === 0 ? responses.length : 0;
      return {
        promptId: epoch === 0 ? prompt : `${prompt}@${epoch}`,
        promptTokens: Math.max(1, promptTokens ?? 1),
        ...(task === undefined ? undefined : { task }),
        sample: (k): Sample => {
          const response = k < recorded ? responses[k]! : undefined;
          if (response !== undefined) return recordedSample(response, capTokens);
          return capped(draw(prompts[row]!, row, epoch, k), capTokens);
        },
      };
    },
  };
}

function recordedSample(response: TracePrompt['responses'][number], capTokens: number): Sample {
  const sample = capped(response.tokens, capTokens);
  return response.capped === true ? { ...sample, capped: true } : sample;
}

type Draw = (prompt: TracePrompt, row: number, epoch: number, k: number) => number;

function samplers(scored: Scored, seed: number): Record<Resampling, Draw> {
  const { sorted, scores, correlation } = scored;
  const logs = sorted.map(Math.log);
  const centre = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const spread = Math.sqrt(logs.reduce((sum, one) => sum + (one - centre) ** 2, 0) / logs.length);
  return {
    'within-prompt': ({ responses }, row, epoch, k) =>
      responses[pickIndex(responses.length, seed, sampleKey, row, epoch, k)]!.tokens,
    copula: (_prompt, row, epoch, k) => {
      // The prompt's effect given its n recorded scores: normal, with the usual shrinkage.
      const { mean, count } = scores[row]!;
      const trust = (count * correlation) / (1 + (count - 1) * correlation);
      const effect = trust * mean + Math.sqrt(correlation * (1 - trust)) * normal(seed, effectKey, row, epoch);
      const z = effect + Math.sqrt(1 - correlation) * normal(seed, sampleKey, row, epoch, k);
      const rank = Math.floor(normalDistribution(z) * sorted.length);
      return sorted[Math.min(sorted.length - 1, rank)]!;
    },
    parametric: ({ responses }, row, epoch, k) => {
      const own = responses.map((one) => Math.log(one.tokens));
      const middle = own.reduce((sum, one) => sum + one, 0) / own.length;
      const square = own.reduce((sum, one) => sum + (one - middle) ** 2, 0);
      // Few samples say little of their spread: two of the trace's own are added.
      const sigma = Math.sqrt((square + 2 * (1 - correlation) * spread ** 2) / (own.length + 1));
      return Math.exp(middle + sigma * normal(seed, sampleKey, row, epoch, k));
    },
  };
}

/** The numbers from 0 to n − 1 in an order fixed by seed and epoch (Fisher and Yates). */
function shuffled(n: number, seed: number, epoch: number): number[] {
  const list = Array.from({ length: n }, (_, index) => index);
  for (let last = n - 1; last > 0; last -= 1) {
    const other = pickIndex(last + 1, seed, shuffleKey, epoch, last);
    [list[last], list[other]] = [list[other]!, list[last]!];
  }
  return list;
}
