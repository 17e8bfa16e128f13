/** HTTP helpers for the routes. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A JSON object. */
export type Json = Record<string, unknown>;

/** One request, and the response to it. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body; an empty object if the request has none. */
  readonly body: Json;
}

/** Answers a call, now or later. The server turns errors that the handler throws into answers. */
export type Handler = (call: Call) => void;

/** Handlers by method and path, such as `POST /generate`. A path that ends in `/*` takes all paths below it. */
export type Routes = Readonly<Record<string, Handler>>;

/** Further fields of an error, in APIs that have them. */
export interface ErrorDetails {
  /** Name of the error's type; by default it follows from the status. */
  readonly type?: string;
  /** The field that is wrong; `null` if no field is named. */
  readonly param?: string | null;
}

/** A refusal, with its HTTP status. */
export class HttpError extends Error {
  readonly status: number;
  readonly details: ErrorDetails;

  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** Refuses a request. Throws `HttpError`. */
export function refuse(message: string, status = 400, details: ErrorDetails = {}): never {
  throw new HttpError(status, message, details);
}

/** Answers with JSON; does nothing if the connection is closed. */
export function reply(response: ServerResponse, body: unknown, status = 200): void {
  send(response, status, 'application/json', JSON.stringify(body));
}

/** Answers with text; without a content type if `null` is given. */
export function replyText(
  response: ServerResponse,
  text: string,
  status = 200,
  type: string | null = 'text/plain; charset=utf-8',
): void {
  send(response, status, type, text);
}

/** Answers with a status and no body. */
export function replyEmpty(response: ServerResponse, status = 200): void {
  if (!response.destroyed) response.writeHead(status).end();
}

function send(response: ServerResponse, status: number, type: string | null, text: string): void {
  if (response.destroyed || response.headersSent) return;
  const named = type === null ? {} : { 'content-type': type };
  response.writeHead(status, { ...named, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Begins a stream of server-sent events. */
export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

/** Sends one event. */
export function sendEvent(response: ServerResponse, data: unknown): void {
  response.write(`data: ${JSON.stringify(data)}\n\n`);
}

/** Ends a stream of events in the format of OpenAI's API. */
export function endEvents(response: ServerResponse): void {
  response.end('data: [DONE]\n\n');
}

/** Reads the body of a request. Throws `HttpError`. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Json> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) refuse(`a body of at most ${mostBytes} bytes`, 413);
    chunks.push(chunk as Buffer);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.trim() === '') return {};
  const body = parseJson(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Json;
  return refuse('expected a JSON object', 400, { type: 'Bad Request', param: 'body' });
}

/** Whether a request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const at = /position (\d+)/.exec(message)?.[1] ?? text.length;
    return refuse(`JSON decode error: ${message}`, 400, { type: 'Bad Request', param: `body.${at}` });
  }
}

/** Returns the handler for a call, or the HTTP status of the error without one. */
export function handlerOf(routes: Routes, method: string, path: string): Handler | 404 | 405 {
  const exact = routes[`${method} ${path}`];
  if (exact !== undefined) return exact;
  const below = `${path.slice(0, path.indexOf('/', 1) + 1)}*`;
  const under = below === '*' ? undefined : routes[`${method} ${below}`];
  if (under !== undefined) return under;
  return Object.keys(routes).some((one) => one.endsWith(` ${path}`)) ? 405 : 404;
}
