/**
 * Response lengths from an event log of `recordEvents`. Completed responses are exact. Aborted ones are censored: they
 * would have been longer, by an unknown amount.
 */
import { PolicyError } from '../errors.ts';
import type { Prompt } from '../schemas/prompts.ts';
import { jsonLine } from './trace/format.ts';

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

interface Book {
  readonly requests: Map<string, Request>;
  readonly prompts: Map<string, Prompt>;
}

type Line = Record<string, unknown>;

/**
 * Reads a log.
 *
 * @param lines - the lines of the log, the first with its snapshot
 * @throws PolicyError `invalid_input` with the number of a broken line, or when no response ever completed
 */
export function lengthsFromLog(lines: Iterable<string>): LoggedLengths {
  const book: Book = { requests: new Map(), prompts: new Map() };
  let number = 0;
  let isFirst = true;
  for (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const entry = jsonLine(line, `line ${number}`);
    if (!isFirst || entry.snapshot === undefined) readEntry(entry, line, `line ${number}`, book);
    isFirst = false;
  }
  return collect(book);
}

const isObject = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function readEntry({ event, decisions }: Line, line: string, where: string, book: Book): void {
  const refuse = (expected: string): never => {
    throw new PolicyError('invalid_input', { expected, got: line, path: where });
  };
  if (!isObject(event) || !Array.isArray(decisions) || !decisions.every(isObject)) {
    return refuse('an object with `event` and `decisions`');
  }
  const { type, tokens, prompts } = event;
  const request = book.requests.get(event.requestId as string);
  if (type === 'response.completed') {
    if (!isCount(tokens)) return refuse('a response with a whole number of `tokens`');
    if (request !== undefined) request.response = { tokens, censored: false };
  } else if (type === 'request.aborted' && tokens !== undefined) {
    if (!isCount(tokens)) return refuse('an abort with a whole number of `tokens`');
    if (request !== undefined) request.response ??= { tokens, censored: true };
  } else if (type === 'round.opened' || type === 'prompts.supplied') {
    if (!Array.isArray(prompts) || !prompts.every(isObject)) return refuse('an event with `prompts`');
    for (const prompt of prompts as unknown as Prompt[]) book.prompts.set(prompt.promptId, prompt);
  }
  // Nothing else tells of lengths.
  for (const decision of decisions) readLaunch(decision, book.requests);
}

function readLaunch(decision: Line, requests: Map<string, Request>): void {
  if (decision.type !== 'request.launch') return;
  // A resumed response is one response: its earlier part is not another.
  const resumed = decision.resumeFrom as { requestId: string } | undefined;
  if (resumed !== undefined) requests.delete(resumed.requestId);
  requests.set(decision.requestId as string, { promptId: decision.promptId as string, response: undefined });
}

function collect({ requests, prompts: known }: Book): LoggedLengths {
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
