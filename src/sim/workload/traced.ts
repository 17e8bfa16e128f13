/**
 * Workloads from a trace: a prompt gives its recorded responses first. Over-provisioning needs more responses than were recorded,
 * and these are resampled. The method is part of the result, because it affects the result.
 *
 * - `within-prompt`: one of the prompt's own recorded responses, drawn with replacement. This keeps the distribution of each
 *   prompt, and never exceeds its longest response.
 * - `copula`: a draw from the marginal distribution of the trace with its correlation, given the recorded responses of the prompt.
 * - `parametric`: a draw from a lognormal fitted to the recorded responses of the prompt, with its spread shrunk towards that of
 *   the trace.
 */
import { refuse } from '../../errors.ts';
import { addedIn, rowOf, type TracePrompt } from '../trace/format.ts';
import { type PileUp, pileUpSentence } from '../trace/import/pile-up.ts';
import { normal, normalDistribution, pickIndex, shuffled } from './random.ts';
import { type Response, type Scored, score } from './scores.ts';
import { capped, checkWorkload, type Sample, samplesPerEpoch, type Workload, type WorkloadPrompt } from './workload.ts';

/** Ids of the methods that make responses which were not recorded. */
export const resamplingMethods = ['within-prompt', 'copula', 'parametric'] as const;
/** A method that makes responses which were not recorded. */
export type Resampling = (typeof resamplingMethods)[number];

/** Options of a workload from a trace. */
export interface TracedOptions {
  /** Name for readers, in tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source?: string;
  /** The prompts of the trace. */
  readonly prompts: readonly TracePrompt[];
  /** The method for responses that were not recorded; `within-prompt` if absent. */
  readonly resampling?: Resampling;
  /** The limit that lengths of the trace pile up at, which was taken for its own. */
  readonly pileUp?: PileUp;
  /** Longest response, a whole number >= 1. */
  readonly capTokens: number;
  /** Seed, a safe whole number. */
  readonly seed: number;
}

const shuffleKey = 11;
const sampleKey = 12;
const effectKey = 13;
const ofEpochsKey = 14;

/**
 * Returns a workload from a trace. The order of the prompts in the trace does not matter.
 *
 * @throws PolicyError `invalid_input` for a trace without prompts, a prompt without responses, an id that occurs twice, and an
 *   invalid cap or seed
 */
export function tracedWorkload({ seed, ...options }: TracedOptions): Workload {
  return tracedWorkloads(options)(seed);
}

/** Returns the workload of a trace for each seed: what seeds have in common is computed once. Throws as {@link tracedWorkload} does. */
export function tracedWorkloads(options: Omit<TracedOptions, 'seed'>): (seed: number) => Workload {
  let prepared: Prepared | undefined;
  return (seed) => {
    checkWorkload({ ...options, seed });
    prepared ??= prepare(options);
    return seededWorkload({ ...options, seed }, prepared);
  };
}

interface Prepared {
  /** In the order of their ids. */
  readonly prompts: readonly TracePrompt[];
  /** Separator between prompt id and epoch. */
  readonly mark: string;
  readonly scored: Scored;
}

function prepare(options: Omit<TracedOptions, 'seed'>): Prepared {
  const prompts = inOrder(options);
  return { prompts, mark: epochMark(prompts), scored: score(prompts) };
}

function seededWorkload(options: TracedOptions, { prompts, mark, scored }: Prepared): Workload {
  const { seed, capTokens, resampling = 'within-prompt' } = options;
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
    ...caveatOf(options),
    resampling: `recorded, then ${resampling}`,
    correlation: scored.correlation,
    ...(scored.betweenSteps === null ? undefined : { correlationOfEpochs: scored.betweenSteps }),
    capTokens,
    distinctPrompts: prompts.length,
    prompt: (index): WorkloadPrompt => {
      const epoch = Math.floor(index / prompts.length);
      const row = order(epoch)[index % prompts.length]!;
      const { prompt, promptTokens, task, responses } = prompts[row]!;
      const firstId = rowOf(prompts[row]!);
      const recorded = epoch === 0 ? responses.length : 0;
      return {
        promptId: epoch === 0 ? prompt : `${prompt}${mark}${epoch}`,
        ...(epoch === 0 && firstId === prompt ? undefined : { firstId }),
        promptTokens: Math.max(1, (promptTokens ?? 0) + addedBy(responses)),
        ...(task === undefined ? undefined : { task }),
        sample: (k): Sample => {
          const response = k < recorded ? responses[k]! : draw(prompts[row]!, row, epoch, k);
          return sampleOf(response, capTokens);
        },
      };
    },
  };
}

/** Returns the caveat that lengths are estimated, or that nobody said which were cut, for results. */
function caveatOf({ prompts, pileUp }: TracedOptions): { readonly caveat?: string } {
  if (pileUp !== undefined) return { caveat: `${pileUpSentence(pileUp, responsesIn(prompts))}.` };
  const methods = new Set(prompts.flatMap(({ estimated }) => estimated ?? []));
  if (methods.size === 0) return {};
  return { caveat: `Lengths of the trace are estimates (${[...methods].join('; ')}), not counts of tokens.` };
}

const responsesIn = (prompts: readonly TracePrompt[]): number =>
  prompts.reduce((sum, { responses }) => sum + responses.length, 0);

/** Mean number of tokens that tools and users have added to responses: without turns, these count as part of the prompt. */
function addedBy(responses: TracePrompt['responses']): number {
  const added = responses.reduce((sum, { turns = [] }) => sum + addedIn(turns), 0);
  return Math.round(added / responses.length);
}

/** Orders prompts by their ids. */
function inOrder({ prompts, name }: Omit<TracedOptions, 'seed'>): TracePrompt[] {
  if (prompts.length === 0) refuse('invalid_input', name, 'at least one prompt', 'none');
  const sorted = [...prompts].sort((a, b) => (a.prompt < b.prompt ? -1 : Number(a.prompt > b.prompt)));
  for (const [index, { prompt, responses }] of sorted.entries()) {
    if (responses.length === 0) refuse('invalid_input', name, 'prompts with a response', prompt);
    if (sorted[index + 1]?.prompt === prompt) refuse('invalid_input', name, 'prompt ids that differ', prompt);
  }
  return sorted;
}

/** Returns the separator between prompt id and epoch. No id contains the separator, so that all ids differ. */
function epochMark(prompts: readonly TracePrompt[]): string {
  let mark = '@';
  while (prompts.some(({ prompt }) => prompt.includes(mark))) mark += '@';
  return mark;
}

/**
 * A response that the trace marks as cut short stays so, even if the cap of the job is higher. A response that this cap cuts has no
 * recorded correctness: the judged response was longer.
 */
function sampleOf({ tokens, capped: isCut, correct }: Response, capTokens: number): Sample {
  const sample = capped(tokens, capTokens);
  const judged = correct === undefined || tokens > capTokens ? sample : { ...sample, correct };
  return isCut === true ? { ...judged, capped: true } : judged;
}

type Draw = (prompt: TracePrompt, row: number, epoch: number, k: number) => Response;

function samplers(scored: Scored, seed: number): Record<Resampling, Draw> {
  const { sorted, scores, correlation, betweenSteps } = scored;
  const logs = sorted.map((one) => Math.log(one.tokens));
  const centre = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const spread = Math.sqrt(logs.reduce((sum, one) => sum + (one - centre) ** 2, 0) / logs.length);
  // The variance of a prompt's effect that all epochs share, as a share of the whole.
  const shared = betweenSteps === null || correlation === 0 ? 1 : betweenSteps / correlation;
  const afresh = Math.sqrt((1 - shared) * correlation);
  /** Returns the effect of a prompt in a later epoch (from 1). Effects of any two epochs have the correlation `shared`. */
  const later = (effect: number, row: number, epoch: number): number => {
    const lasting = Math.sqrt(shared) * effect + afresh * normal(seed, ofEpochsKey, row, 0);
    return Math.sqrt(shared) * lasting + afresh * normal(seed, ofEpochsKey, row, epoch);
  };
  return {
    'within-prompt': ({ responses }, row, epoch, k) =>
      responses[pickIndex(responses.length, seed, sampleKey, row, epoch, k)]!,
    copula: (_prompt, row, epoch, k) => {
      // The effect of the prompt, given its n recorded scores, is normal, with the usual shrinkage.
      const { mean, count } = scores[row]!;
      const trust = (count * correlation) / (1 + (count - 1) * correlation);
      const first = trust * mean + Math.sqrt(correlation * (1 - trust)) * normal(seed, effectKey, row, epoch);
      const ofEpoch = Math.floor(k / samplesPerEpoch);
      const effect = ofEpoch === 0 || shared === 1 ? first : later(first, row, ofEpoch);
      const z = effect + Math.sqrt(1 - correlation) * normal(seed, sampleKey, row, epoch, k);
      const rank = Math.floor(normalDistribution(z) * sorted.length);
      return sorted[Math.min(sorted.length - 1, rank)]!;
    },
    parametric: ({ responses }, row, epoch, k) => {
      const own = responses.map((one) => Math.log(one.tokens));
      const middle = own.reduce((sum, one) => sum + one, 0) / own.length;
      const square = own.reduce((sum, one) => sum + (one - middle) ** 2, 0);
      // A few samples say little about their spread, so two samples with the spread of the trace are added.
      const sigma = Math.sqrt((square + 2 * (1 - correlation) * spread ** 2) / (own.length + 1));
      return { tokens: Math.exp(middle + sigma * normal(seed, sampleKey, row, epoch, k)) };
    },
  };
}
