/**
 * Response lengths from an event log of `recordEvents`, or from a decision log of the server. Completed responses are exact.
 * Aborted responses are censored: their full lengths are unknown, but larger.
 */

import { refuse } from '../../errors.ts';
import type { ReadLine } from '../../logs/format/decision-log.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import { jsonLine } from '../trace/format.ts';

/** A response in the log. */
export interface LoggedResponse {
  /** Tokens of the response at its end. */
  readonly tokens: number;
  /** Whether it was aborted after `tokens` tokens. */
  readonly censored: boolean;
}

/** A prompt in the log. */
export interface LoggedPrompt {
  /** Id of the prompt. */
  readonly promptId: string;
  /** Tokens of the prompt, if they are in the log. */
  readonly promptTokens?: number;
  /** Domain of the prompt, if it is in the log. */
  readonly domain?: string;
  /** Responses of the prompt in the log. */
  readonly responses: readonly LoggedResponse[];
}

/** Lengths of the responses in a log. */
export interface LoggedLengths {
  /** The prompts of the log, in the order in which they were first launched. */
  readonly prompts: readonly LoggedPrompt[];
  /** Number of complete responses. */
  readonly completed: number;
  /** Number of aborted responses, whose lengths are lower bounds. */
  readonly censored: number;
  /**
   * Requests without a length in the log: failed, lost, still in flight at the end of the log, or aborted without a token count.
   */
  readonly unknown: number;
  /** Number of events that are missing in a decision log; some unknown requests may have ended in them. */
  readonly missing?: number;
}

interface Request {
  readonly promptId: string;
  response: LoggedResponse | undefined;
}

interface Book {
  readonly requests: Map<string, Request>;
  readonly prompts: Map<string, Prompt>;
  /** Whether the host admits requests itself: then the log has no event of a request before its end. */
  readonly ownRequests: boolean;
}

const newBook = (ownRequests: boolean): Book => ({ requests: new Map(), prompts: new Map(), ownRequests });

type Line = Record<string, unknown>;

/**
 * Reads a log.
 *
 * @param lines - the lines of the log, the first with its snapshot
 * @throws PolicyError `invalid_input` with the number of a broken line, or if no response is complete
 */
export function lengthsFromLog(lines: Iterable<string>): LoggedLengths {
  const book = newBook(false);
  let number = 0;
  let isFirst = true;
  for (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const entry = jsonLine(line, `line ${number}`);
    if (!isFirst || entry.snapshot === undefined) readEntry(entry, line, `line ${number}`, book);
    isFirst = false;
  }
  return collect([book]);
}

/**
 * Reads the decision log of a server. In shadow mode, if the host admits requests itself, the part of a request id before `/` is
 * the prompt; without a `/`, every response is its own prompt.
 *
 * @param only - the session to read; all if absent
 * @throws PolicyError `unknown_id` for an unknown session, `invalid_input` if no response is complete
 */
export function lengthsFromDecisionLog(lines: Iterable<ReadLine>, only?: string): LoggedLengths {
  const books = new Map<string, Book>();
  const seqs = new Map<string, number>();
  let missing = 0;
  for (const { where, line } of lines) {
    if (line === 'torn' || !('session' in line) || (only !== undefined && line.session !== only)) continue;
    if (line.kind === 'session' && !books.has(line.session)) books.set(line.session, newBook(line.shadow));
    const book = books.get(line.session);
    const seq = line.kind === 'event' ? line.seq - 1 : line.seq;
    missing += Math.max(0, seq - (seqs.get(line.session) ?? seq));
    if (line.kind === 'closed') seqs.delete(line.session);
    else seqs.set(line.session, line.seq);
    if (line.kind === 'event' && book !== undefined) readEntry(line, line.event, where, book);
  }
  if (only !== undefined && books.size === 0) refuse('unknown_id', 'session', 'a session of the log', only);
  return { ...collect([...books.values()]), missing };
}

const isObject = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function readEntry(
  { event, decisions }: { event?: unknown; decisions?: unknown },
  line: unknown,
  where: string,
  book: Book,
): void {
  if (!isObject(event) || !Array.isArray(decisions) || !decisions.every(isObject)) {
    return refuse('invalid_input', where, 'an object with `event` and `decisions`', line);
  }
  const { type, tokens, prompts } = event;
  const request = requestOf(book, event);
  if (type === 'response.completed') {
    if (!isCount(tokens)) return refuse('invalid_input', where, 'a response with a whole number of `tokens`', line);
    if (request !== undefined) request.response = { tokens, censored: false };
  } else if (type === 'request.aborted' && tokens !== undefined) {
    if (!isCount(tokens)) return refuse('invalid_input', where, 'an abort with a whole number of `tokens`', line);
    if (request !== undefined) request.response ??= { tokens, censored: true };
  } else if (type === 'round.opened' || type === 'prompts.supplied') {
    if (!Array.isArray(prompts) || !prompts.every(isObject))
      return refuse('invalid_input', where, 'an event with `prompts`', line);
    for (const prompt of prompts as unknown as Prompt[]) book.prompts.set(prompt.promptId, prompt);
  }
  // Other events have no lengths.
  for (const decision of decisions) readLaunch(decision, book.requests);
}

function requestOf({ requests, ownRequests }: Book, { type, requestId }: Line): Request | undefined {
  const id = requestId as string;
  const isEnd = type === 'response.completed' || type === 'request.aborted';
  if (!ownRequests || !isEnd || requests.has(id)) return requests.get(id);
  const request: Request = { promptId: id.includes('/') ? id.slice(0, id.lastIndexOf('/')) : id, response: undefined };
  requests.set(id, request);
  return request;
}

function readLaunch(decision: Line, requests: Map<string, Request>): void {
  if (decision.type !== 'request.launch') return;
  // A resumed response is one response: its earlier part does not count separately.
  const resumed = decision.resumeFrom as { requestId: string } | undefined;
  if (resumed !== undefined) requests.delete(resumed.requestId);
  requests.set(decision.requestId as string, { promptId: decision.promptId as string, response: undefined });
}

function collect(books: readonly Book[]): LoggedLengths {
  // If one session admits the requests, other sessions may have recorded the same requests.
  const admitting = books.filter(({ ownRequests, requests }) => !ownRequests && requests.size > 0);
  const all = (admitting.length > 0 ? admitting : books).map(collectOne);
  const sum = (of: 'completed' | 'censored' | 'unknown'): number => all.reduce((total, one) => total + one[of], 0);
  if (sum('completed') === 0) refuse('invalid_input', 'log', 'a log with a completed response', 'none');
  return {
    prompts: all.flatMap(({ prompts }) => prompts),
    completed: sum('completed'),
    censored: sum('censored'),
    unknown: sum('unknown'),
  };
}

function collectOne({ requests, prompts: known }: Book): LoggedLengths {
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
