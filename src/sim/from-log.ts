/**
 * A workload from an event log of `recordEvents`, or from a decision log of the server. Dropping aborted responses would make every prompt look shorter than
 * it is, since it is the long ones that are aborted; `traceFromLog` draws the rest of each.
 */
import { type LoggedLengths, lengthsFromLog } from './log-lengths.ts';
import { normal, normalDistribution, normalQuantile, uniform } from './random.ts';
import { survivalQuantile } from './survival.ts';
import type { TracePrompt } from './trace/format.ts';
import { estimateCorrelation } from './workload/scores.ts';
import { type Resampling, tracedWorkload } from './workload/traced.ts';
import type { Workload } from './workload/workload.ts';

/** Options for drawing censored lengths. */
export interface LogTraceOptions {
  /** The length limit of the logged job: responses that outlived all observations ran up to it. */
  readonly capTokens: number;
  /** Seed of the draws for the rest of aborted responses. */
  readonly seed: number;
}

const sampleKey = 21;
const effectKey = 22;

/**
 * Makes a trace in which every censored response has a length drawn beyond its abort. The marginal is the Kaplan–Meier
 * estimate over all responses; a prompt's other responses shift the draw through the within-prompt correlation, as in
 * the `copula` resampling of traces.
 *
 * Kaplan–Meier assumes that aborts are independent of the rest of a response. Aborts follow from the lengths of others, so
 * that nearly holds; but siblings of a long response are likelier to be aborted, and the copula corrects only part of that.
 */
export function traceFromLog(log: LoggedLengths, options: LogTraceOptions): TracePrompt[] {
  const { capTokens, seed } = options;
  const survival = survivalQuantile(
    log.prompts.flatMap(({ responses }) => responses),
    capTokens,
  );
  const exact = log.prompts.map(({ promptId, responses }) => ({
    prompt: promptId,
    responses: responses.filter((one) => !one.censored && one.tokens > 0).map(({ tokens }) => ({ tokens })),
  }));
  const rho = estimateCorrelation(exact.filter((one) => one.responses.length > 0));
  const z = (share: number): number => normalQuantile(clamp(share));
  // Lengths are whole numbers: the score of one is in the middle of its step of the distribution.
  const exactScore = (tokens: number): number => z(1 - (survival.beyond(tokens - 1) + survival.beyond(tokens)) / 2);
  return log.prompts.map(({ promptId, promptTokens, domain, responses }, row) => {
    const count = responses.length;
    const scores = responses.map(({ tokens, censored }) =>
      censored ? meanBeyond(z(1 - survival.beyond(tokens))) : exactScore(tokens),
    );
    const mean = scores.reduce((sum, one) => sum + one, 0) / count;
    const trust = (count * rho) / (1 + (count - 1) * rho);
    const effect = trust * mean + Math.sqrt(rho * (1 - trust)) * normal(seed, effectKey, row);
    const spread = Math.sqrt(1 - rho);
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

/** Returns the mean of a standard normal that is known to be above x. Of an abort at 0 tokens nothing is known, and that is 0. */
function meanBeyond(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) / normalDistribution(-x);
}

const clamp = (share: number): number => Math.min(1 - 1e-9, Math.max(1e-9, share));

/** Returns a workload from a log, given as its lines or as its lengths. Throws as {@link lengthsFromLog} does. */
export function workloadFromLog(
  from: Iterable<string> | LoggedLengths,
  options: LogTraceOptions & { readonly name: string; readonly resampling?: Resampling | undefined },
): Workload {
  const log = 'prompts' in from ? from : lengthsFromLog(from);
  const prompts = traceFromLog(log, options);
  const { completed, censored, unknown, missing = 0 } = log;
  const parts = [`${completed} responses complete`, `${censored} aborted and drawn beyond their abort`];
  if (unknown > 0) parts.push(`${unknown} without a length left out`);
  if (missing > 0) parts.push(`${missing} events missing in the log`);
  const source = `estimate from a log: ${parts.join(', ')}`;
  return tracedWorkload({ ...options, resampling: options.resampling ?? 'copula', source, prompts });
}
