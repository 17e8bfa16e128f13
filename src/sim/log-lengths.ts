/**
 * Response lengths from an event log of `recordEvents`, or from a decision log of the server. Completed responses are exact. Aborted ones are censored: they
 * would have been longer, by an unknown amount.
 */
import type { ReadLine } from '../core/decision-log.ts';
import { refuse } from '../errors.ts';
import type { Prompt } from '../schemas/prompts.ts';
import { jsonLine } from './trace/format.ts';

/** A response as the log shows it. */
export interface LoggedResponse {
  /** Tokens that it had when it ended. */
  readonly tokens: number;
  /** Whether it was aborted after `tokens` tokens. */
  readonly censored: boolean;
}

/** A prompt as the log shows it. */
export interface LoggedPrompt {
  /** Id of the prompt. */
  readonly promptId: string;
  /** Tokens of the prompt, where the log has them. */
  readonly promptTokens?: number;
  /** Domain of the prompt, where the log has it. */
  readonly domain?: string;
  /** Its responses, as far as the log has them. */
  readonly responses: readonly LoggedResponse[];
}

/** Lengths of responses in a decision log. */
export interface LoggedLengths {
  /** The prompts of the log, in the order in which they were first launched. */
  readonly prompts: readonly LoggedPrompt[];
  /** Responses that were complete. */
  readonly completed: number;
  /** Responses that were aborted: their lengths are lower bounds. */
  readonly censored: number;
  /** Requests without a length in the log: failed, lost, in flight at its end, or aborted without a count. */
  readonly unknown: number;
  /** Events that a decision log should have and lacks; some unknown requests may have ended by them. */
  readonly missing?: number;
}

interface Request {
  readonly promptId: string;
  response: LoggedResponse | undefined;
}

interface Book {
  readonly requests: Map<string, Request>;
  readonly prompts: Map<string, Prompt>;
  /** Whether the host admits requests by itself: then the log has no event about them before their end. */
  readonly ownRequests: boolean;
}

const newBook = (ownRequests: boolean): Book => ({ requests: new Map(), prompts: new Map(), ownRequests });

type Line = Record<string, unknown>;

/**
 * Reads a log.
 *
 * @param lines - the lines of the log, the first with its snapshot
 * @throws PolicyError `invalid_input` with the number of a broken line, or when no response ever completed
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
 * Reads the decision log of a server. In sessions in shadow mode, whose host admits requests by itself, a response belongs
 * to the prompt before the `/` of its request id, or is a prompt of its own.
 *
 * @param only - the session to read; all if absent
 * @throws PolicyError `unknown_id` for a session that is not there, `invalid_input` when no response ever completed
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
  // No other event has lengths.
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
  // A resumed response is one response: its earlier part is not another.
  const resumed = decision.resumeFrom as { requestId: string } | undefined;
  if (resumed !== undefined) requests.delete(resumed.requestId);
  requests.set(decision.requestId as string, { promptId: decision.promptId as string, response: undefined });
}

function collect(books: readonly Book[]): LoggedLengths {
  // If a session admits the requests, other sessions may have seen the same ones.
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
