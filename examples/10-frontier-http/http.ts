/** The little of HTTP that the trainer and the clients need: routes on a free port of this machine, and JSON in and out. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers one request. What it throws is answered with 400 and its message. */
export type Handler = (body: Record<string, unknown>, response: ServerResponse) => void | Promise<void>;

/** A server that listens. */
export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. Routes are named by method and path: `POST /generate`. */
export async function listen(routes: Readonly<Record<string, Handler>>): Promise<Listening> {
  const server = createServer((request, response) => {
    const handler = routes[`${request.method} ${request.url?.split('?')[0]}`];
    if (handler === undefined) return reply(response, { detail: 'Not Found' }, 404);
    bodyOf(request)
      .then((body) => handler(body, response))
      .catch((error: unknown) => fail(response, error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function reply(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else reply(response, { error: { message: error instanceof Error ? error.message : String(error) } }, 400);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  const body: unknown = text === '' ? {} : JSON.parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('expected a JSON object');
  return body as Record<string, unknown>;
}

/**
 * Sends JSON and gives the JSON of the answer.
 *
 * @throws Error when there is no answer, or one that says what went wrong
 */
export async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/** Gets JSON. Throws as {@link post} does. */
export async function get(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return (await answer.json()) as Record<string, unknown>;
}
