/**
 * Makes a workload from an event log of `recordEvents`, or from a decision log of the server. Mostly long responses are aborted:
 * without them, every prompt would look shorter than it is. So `traceFromLog` draws the rest of each aborted response.
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
  /** The length limit of the logged job; responses longer than all observations get this length. */
  readonly capTokens: number;
  /** Seed of the draws for the rest of aborted responses. */
  readonly seed: number;
}

const sampleKey = 21;
const effectKey = 22;

/**
 * Makes a trace in which every aborted response has a random length beyond its abort. The marginal distribution is the Kaplan–Meier
 * estimate over all responses; the other responses of the prompt shift the draw through the within-prompt correlation, as in the
 * `copula` resampling of traces.
 *
 * Kaplan–Meier assumes that aborts are independent of the rest of a response. Aborts depend on the lengths of other responses, so
 * this is nearly true. But a response of a prompt with a long response is more likely to be aborted, and the copula corrects this
 * only in part.
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
  // Lengths are whole numbers: the score of a length is taken in the middle of its step in the distribution.
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

/**
 * Returns the mean of a standard normal variable, given that it is above x. For an abort at 0 tokens this is 0, because nothing is
 * known.
 */
function meanBeyond(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) / normalDistribution(-x);
}

const clamp = (share: number): number => Math.min(1 - 1e-9, Math.max(1e-9, share));

/** Returns a workload from a log, given as lines or as lengths. Throws as {@link lengthsFromLog} does. */
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
