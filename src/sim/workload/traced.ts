/**
 * Workloads from a trace: first the responses that were recorded, then, for those that never were (over-provisioning
 * needs more), resampled ones. The method is part of the result, because it matters.
 *
 * - `within-prompt`: one of the prompt's own recorded responses, with replacement. Keeps each prompt's distribution,
 *   never exceeds its longest.
 * - `copula`: the trace's marginal with its own correlation, given the recorded responses of the prompt.
 * - `parametric`: a lognormal fitted to the prompt's recorded responses, its spread shrunk towards the trace's.
 */
import { refuse } from '../../errors.ts';
import { normal, normalDistribution, pickIndex, shuffled } from '../random.ts';
import type { TracePrompt } from '../trace/format.ts';
import { type Response, type Scored, score } from './scores.ts';
import { capped, checkWorkload, type Sample, type Workload, type WorkloadPrompt } from './workload.ts';

/** Ids of the methods that make responses which were never recorded. */
export const resamplingMethods = ['within-prompt', 'copula', 'parametric'] as const;
/** A method that makes responses which were never recorded. */
export type Resampling = (typeof resamplingMethods)[number];

/** Options of a workload from a trace. */
export interface TracedOptions {
  /** For people: tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source?: string;
  /** The prompts of the trace. */
  readonly prompts: readonly TracePrompt[];
  /** The method for responses that were never recorded; `within-prompt` if absent. */
  readonly resampling?: Resampling;
  /** A whole number >= 1. */
  readonly capTokens: number;
  /** A safe whole number. */
  readonly seed: number;
}

const shuffleKey = 11;
const sampleKey = 12;
const effectKey = 13;

/**
 * A workload from a trace. The order of its prompts in the trace changes nothing.
 *
 * @throws PolicyError `invalid_input` for a trace without prompts, a prompt without responses, an id that comes twice,
 *   and a cap or a seed that is none
 */
export function tracedWorkload(options: TracedOptions): Workload {
  const { seed, capTokens, resampling = 'within-prompt' } = options;
  checkWorkload(options);
  const prompts = inOrder(options);
  const mark = epochMark(prompts);
  const scored = score(prompts);
  const orders = new Map<number, readonly number[]>();
  const order = (epoch: number): readonly number[] => {
    const known = orders.get(epoch) ?? shuffled(prompts.length, seed, shuffleKey, epoch);
    orders.set(epoch, known);
    return known;
  };
  const draw = samplers(scored, seed)[resampling];
  return {
    name: options.name,
    source: options.source ?? 'trace',
    ...caveatOf(prompts),
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
        ...(epoch === 0 ? { promptId: prompt } : { promptId: `${prompt}${mark}${epoch}`, firstId: prompt }),
        promptTokens: Math.max(1, promptTokens ?? 1),
        ...(task === undefined ? undefined : { task }),
        sample: (k): Sample => {
          const response = k < recorded ? responses[k]! : draw(prompts[row]!, row, epoch, k);
          return sampleOf(response, capTokens);
        },
      };
    },
  };
}

/** Returns the caveat of estimated lengths, for every result. */
function caveatOf(prompts: readonly TracePrompt[]): { readonly caveat?: string } {
  const methods = new Set(prompts.flatMap(({ estimated }) => estimated ?? []));
  if (methods.size === 0) return {};
  return { caveat: `Lengths of the trace are estimates (${[...methods].join('; ')}), not counts of tokens.` };
}

/** Orders prompts by their ids. */
function inOrder({ prompts, name }: TracedOptions): TracePrompt[] {
  if (prompts.length === 0) refuse('invalid_input', name, 'at least one prompt', 'none');
  const sorted = [...prompts].sort((a, b) => (a.prompt < b.prompt ? -1 : Number(a.prompt > b.prompt)));
  for (const [index, { prompt, responses }] of sorted.entries()) {
    if (responses.length === 0) refuse('invalid_input', name, 'prompts with a response', prompt);
    if (sorted[index + 1]?.prompt === prompt) refuse('invalid_input', name, 'prompt ids that differ', prompt);
  }
  return sorted;
}

/** Returns the separator between the id of a prompt and a later epoch, which no id contains, so that all ids differ. */
function epochMark(prompts: readonly TracePrompt[]): string {
  let mark = '@';
  while (prompts.some(({ prompt }) => prompt.includes(mark))) mark += '@';
  return mark;
}

/**
 * A response that the trace knows to be cut short stays so, although the cap of the job is higher. One that this cap cuts is
 * another response than the one that was judged.
 */
function sampleOf({ tokens, capped: isCut, correct }: Response, capTokens: number): Sample {
  const sample = capped(tokens, capTokens);
  const judged = correct === undefined || tokens > capTokens ? sample : { ...sample, correct };
  return isCut === true ? { ...judged, capped: true } : judged;
}

type Draw = (prompt: TracePrompt, row: number, epoch: number, k: number) => Response;

function samplers(scored: Scored, seed: number): Record<Resampling, Draw> {
  const { sorted, scores, correlation } = scored;
  const logs = sorted.map((one) => Math.log(one.tokens));
  const centre = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const spread = Math.sqrt(logs.reduce((sum, one) => sum + (one - centre) ** 2, 0) / logs.length);
  return {
    'within-prompt': ({ responses }, row, epoch, k) =>
      responses[pickIndex(responses.length, seed, sampleKey, row, epoch, k)]!,
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
      return { tokens: Math.exp(middle + sigma * normal(seed, sampleKey, row, epoch, k)) };
    },
  };
}
