/**
 * Response lengths from an event log of `recordEvents`. Completed responses are exact. Aborted ones are censored: they
 * would have been longer, by an unknown amount. Dropping them would make every prompt look shorter than it is, since
 * it is the long ones that are aborted; `traceFromLog` draws the rest of each.
 */
import { PolicyError } from '../errors.ts';
import type { Prompt } from '../schemas/prompts.ts';
import { normal, normalDistribution, normalQuantile, uniform } from './random.ts';
import { survivalQuantile } from './survival.ts';
import { jsonLine, type TracePrompt } from './trace/format.ts';
import { estimateCorrelation } from './workload/scores.ts';
import { type Resampling, tracedWorkload } from './workload/traced.ts';
import type { Workload } from './workload/workload.ts';

/** A response as the log shows it. */
export interface LoggedResponse {
  readonly tokens: number;
  /** It was aborted after so many tokens. */
  readonly censored: boolean;
}

/** A prompt as the log shows it. */
export interface LoggedPrompt {
  readonly promptId: string;
  readonly promptTokens?: number;
  readonly domain?: string;
  readonly responses: readonly LoggedResponse[];
}

/** What a log says of lengths. */
export interface LoggedLengths {
  readonly prompts: readonly LoggedPrompt[];
  readonly completed: number;
  readonly censored: number;
  /** Requests of which the log tells no length: failed, lost, in flight at its end, or aborted without a count. */
  readonly unknown: number;
}

interface Request {
  readonly promptId: string;
  response: LoggedResponse | undefined;
}

type Line = Record<string, unknown>;

/**
 * Reads a log.
 *
 * @param lines - the lines of the log, the first with its snapshot
 * @throws PolicyError `invalid_input` with the number of a broken line, or when no response ever completed
 */
export function lengthsFromLog(lines: Iterable<string>): LoggedLengths {
  const requests = new Map<string, Request>();
  const known = new Map<string, Prompt>();
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const entry = jsonLine(line, `line ${number}`);
    if (number === 1 && entry.snapshot !== undefined) continue;
    if (typeof entry.event !== 'object' || entry.event === null || !Array.isArray(entry.decisions)) {
      const expected = 'an object with `event` and `decisions`';
      throw new PolicyError('invalid_input', { expected, got: line, path: `line ${number}` });
    }
    readEvent(entry.event as Line, requests, known);
    for (const decision of entry.decisions as Line[]) readLaunch(decision, requests);
  }
  return collect(requests, known);
}

function readEvent(event: Line, requests: Map<string, Request>, known: Map<string, Prompt>): void {
  const request = requests.get(event.requestId as string);
  switch (event.type) {
    case 'response.completed':
      if (request !== undefined) request.response = { tokens: event.tokens as number, censored: false };
      break;
    case 'request.aborted':
      if (request !== undefined && typeof event.tokens === 'number') {
        request.response ??= { tokens: event.tokens, censored: true };
      }
      break;
    case 'round.opened':
    case 'prompts.supplied':
      for (const prompt of event.prompts as Prompt[]) known.set(prompt.promptId, prompt);
      break;
    default:
    // Nothing else tells of lengths.
  }
}

function readLaunch(decision: Line, requests: Map<string, Request>): void {
  if (decision.type !== 'request.launch') return;
  // A resumed response is one response: its earlier part is not another.
  const resumed = decision.resumeFrom as { requestId: string } | undefined;
  if (resumed !== undefined) requests.delete(resumed.requestId);
  requests.set(decision.requestId as string, { promptId: decision.promptId as string, response: undefined });
}

function collect(requests: ReadonlyMap<string, Request>, known: ReadonlyMap<string, Prompt>): LoggedLengths {
  const byPrompt = new Map<string, LoggedResponse[]>();
  let [completed, censored, unknown] = [0, 0, 0];
  for (const { promptId, response } of requests.values()) {
    if (response === undefined) unknown += 1;
    else {
      if (response.censored) censored += 1;
      else completed += 1;
      const list = byPrompt.get(promptId) ?? [];
      list.push(response);
      byPrompt.set(promptId, list);
    }
  }
  if (completed === 0) {
    throw new PolicyError('invalid_input', { expected: 'a log with a completed response', got: 'none', path: 'log' });
  }
  const prompts = [...byPrompt].map(([promptId, responses]): LoggedPrompt => {
    const { promptTokens, domain } = known.get(promptId) ?? {};
    return {
      promptId,
      ...(promptTokens === undefined ? undefined : { promptTokens }),
      ...(domain === undefined ? undefined : { domain }),
      responses,
    };
  });
  return { prompts, completed, censored, unknown };
}

/** How censored lengths are drawn. */
export interface LogTraceOptions {
  /** The length limit of the logged job: what outlived everything seen ran up to it. */
  readonly capTokens: number;
  readonly seed: number;
}

const sampleKey = 21;
const effectKey = 22;

/**
 * A trace in which every censored response has a length drawn beyond its abort. The marginal is the Kaplan–Meier
 * estimate over all responses; a prompt's other responses shift the draw through the within-prompt correlation, as in
 * the `copula` resampling of traces.
 *
 * Kaplan–Meier takes aborts to be independent of what would have come. Aborts follow from the lengths of others, so
 * that nearly holds; but siblings of a long response are likelier to be aborted, and the copula mends that in part only.
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
  const score = (tokens: number): number => normalQuantile(clamp(1 - survival.beyond(tokens)));
  return log.prompts.map(({ promptId, promptTokens, domain, responses }, row) => {
    // Of a censored response at least its lower bound is known.
    const count = responses.length;
    const mean = responses.reduce((sum, one) => sum + score(one.tokens), 0) / count;
    const trust = (count * rho) / (1 + (count - 1) * rho);
    const effect = trust * mean + Math.sqrt(rho * (1 - trust)) * normal(seed, effectKey, row);
    const spread = Math.sqrt(1 - rho);
    const draw = (tokens: number, k: number): number => {
      const passed = normalDistribution((score(tokens) - effect) / spread);
      const share = passed + uniform(seed, sampleKey, row, k) * (1 - passed);
      const drawn = survival.quantile(normalDistribution(effect + spread * normalQuantile(clamp(share))));
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

/** A workload from a log. Throws as {@link lengthsFromLog} does. */
export function workloadFromLog(
  lines: Iterable<string>,
  options: LogTraceOptions & { readonly name: string; readonly resampling?: Resampling },
): Workload {
  const log = lengthsFromLog(lines);
  const prompts = traceFromLog(log, options);
  const source = `event log: ${log.completed} responses complete, ${log.censored} aborted and drawn beyond their abort`;
  return tracedWorkload({ resampling: 'copula', ...options, source, prompts });
}
