/**
 * Makes a workload from an event log of `recordEvents`, or from a decision log of the server. Mostly long responses are aborted,
 * so leaving them out would make every prompt look too short. Therefore `traceFromLog` draws the rest of each aborted response.
 */

import type { TracePrompt } from '../trace/format.ts';
import { type LoggedLengths, type LoggedResponse, lengthsFromLog } from './log-lengths.ts';
import { promptEffects } from './prompt-effects.ts';
import { normalDistribution, normalQuantile, pickIndex, uniform } from './random.ts';
import { survivalQuantile } from './survival.ts';
import { type Resampling, tracedWorkload } from './traced.ts';
import type { Workload } from './workload.ts';

/** Options for drawing censored lengths. */
export interface LogTraceOptions {
  /** The length limit of the logged job; responses longer than all observations get this length. */
  readonly capTokens: number;
  /** Seed for drawing the rest of aborted responses. */
  readonly seed: number;
  /**
   * Whether each seed also draws the prompts from which the distribution is estimated (a bootstrap), so that draws with different
   * seeds also show the uncertainty of few prompts.
   */
  readonly resamplesPrompts?: boolean;
}

const sampleKey = 21;
const effectKey = 22;
const promptKey = 23;

/**
 * Makes a trace in which every aborted response has a random length beyond its abort. The length is drawn from the Kaplan–Meier
 * estimate over all responses, given the other responses of the prompt (`promptEffects`).
 *
 * Kaplan–Meier assumes that an abort is independent of the rest of the response. This is nearly true, because aborts depend on
 * the lengths of other responses; a response to a prompt with long responses is more likely to be aborted, which the effect of
 * the prompt corrects.
 */
export function traceFromLog(log: LoggedLengths, options: LogTraceOptions): TracePrompt[] {
  const { capTokens, seed, resamplesPrompts = false } = options;
  const { prompts } = log;
  const seen = resamplesPrompts
    ? prompts.map((_, row) => prompts[pickIndex(prompts.length, seed, promptKey, row)]!)
    : prompts;
  const survival = survivalQuantile(
    seen.flatMap(({ responses }) => responses),
    capTokens,
  );
  const z = (share: number): number => normalQuantile(clamp(share));
  // Lengths are whole numbers, so the score of a length is taken in the middle of its step in the distribution.
  const exactScore = (tokens: number): number => z(1 - (survival.beyond(tokens - 1) + survival.beyond(tokens)) / 2);
  // A response that the cap has cut would also have been longer.
  const isCut = ({ tokens, censored }: LoggedResponse): boolean => censored || tokens >= capTokens;
  const effects = promptEffects(
    prompts.map(({ responses }) => ({
      exact: responses.flatMap((one) => (isCut(one) ? [] : [exactScore(one.tokens)])),
      above: responses.flatMap((one) =>
        isCut(one) ? [z(1 - survival.beyond(one.censored ? one.tokens : one.tokens - 1))] : [],
      ),
    })),
    seed,
  );
  const spread = Math.sqrt(1 - effects.correlation);
  return prompts.map(({ promptId, promptTokens, domain, responses }, row) => {
    const effect = effects.effect(row, uniform(seed, effectKey, row));
    const draw = (tokens: number, k: number): number => {
      const passed = normalDistribution((z(1 - survival.beyond(tokens)) - effect) / spread);
      const share = passed + uniform(seed, sampleKey, row, k) * (1 - passed);
      const drawn = survival.quantile(normalDistribution(effect + spread * z(share)));
      return Math.min(capTokens, Math.max(tokens + 1, drawn));
    };
    return {
      prompt: promptId,
      ...(promptTokens === undefined ? undefined : { promptTokens }),
      ...(domain === undefined ? undefined : { task: domain }),
      responses: responses.map(({ tokens, censored }, k) => ({
        tokens: Math.max(1, censored ? draw(tokens, k) : tokens),
      })),
    };
  });
}

const clamp = (share: number): number => Math.min(1 - 1e-9, Math.max(1e-9, share));

/** Returns a workload from a log, given as lines or as lengths. Throws as {@link lengthsFromLog} does. */
export function workloadFromLog(
  from: Iterable<string> | LoggedLengths,
  options: LogTraceOptions & { readonly name: string; readonly resampling?: Resampling | undefined },
): Workload {
  const log = 'prompts' in from ? from : lengthsFromLog(from);
  const prompts = traceFromLog(log, options);
  return tracedWorkload({ ...options, resampling: options.resampling ?? 'copula', source: sourceOf(log), prompts });
}

/** Describes the origin of the lengths in words. */
export function sourceOf({ completed, censored, unknown, missing = 0 }: Omit<LoggedLengths, 'prompts'>): string {
  const phrases = [`${completed} responses complete`, `${censored} aborted and drawn beyond their abort`];
  if (unknown > 0) phrases.push(`${unknown} without a length left out`);
  if (missing > 0) phrases.push(`${missing} events missing in the log`);
  return `estimate from a log: ${phrases.join(', ')}`;
}
