/**
 * A read-only HTTP server of one page and of what the page asks for, as safe as a browser allows: only who has its key gets data, only
 * its own page may ask, and nothing is loaded from elsewhere.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { isPolicyError, type PolicyError, refuse } from '../errors.ts';
import { isToken, tokenFromFile } from '../rpc/transports/token.ts';

/**
 * Answers one question; a generator pauses at each step, so that others get their turn, and a promise lets them have it. The result
 * is sent as JSON.
 *
 * @param gone - is aborted when nobody waits for the answer any longer
 */
export type Answer = (query: URLSearchParams, gone: AbortSignal) => unknown;

/** What is served, and where. */
export interface PageOptions {
  /** The page, with its only style sheet and its only script in it. */
  readonly page: Page;
  /** What the page may ask for, by name: `GET /api/NAME`. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** TCP port; 0 chooses one. */
  readonly port: number;
  /** Address to listen at. */
  readonly host: string;
  /** File of the key. Needed if others than this machine can reach the address; otherwise a random key is part of the URL. */
  readonly tokenFile?: string | undefined;
  readonly limits?: Partial<PageLimits>;
}

export interface Page {
  readonly title: string;
  readonly body: string;
  readonly style: string;
  readonly script: string;
}

/** Limits of a server. */
export interface PageLimits {
  /** Most open connections; others are closed at once. */
  readonly connections: number;
  /** Most questions that wait for their turn; others are refused with 503. */
  readonly waiting: number;
  /** Most bytes of the head of a request. */
  readonly headBytes: number;
  /** Most milliseconds in which a request has to be there, and an answer has to be read. */
  readonly milliseconds: number;
  /** Milliseconds after which a long answer lets others have their turn. */
  readonly turnMilliseconds: number;
  /** Largest share of the time that answers take, above 0; below 1 one answer is completed after the other. */
  readonly share: number;
  /** Refusals a second that are answered at once; others wait for a quarter of a second, so that nobody asks again at once. */
  readonly refusals: number;
}
export const pageLimits: PageLimits = {
  ...{ connections: 64, waiting: 32, headBytes: 8192, milliseconds: 10_000 },
  ...{ turnMilliseconds: 20, share: 1, refusals: 50 },
};

/** A running server. */
export interface PageServer {
  readonly port: number;
  /** The URL of the page, with the key behind `#` where it is no secret of the user's own. */
  readonly url: string;
  close(): Promise<void>;
}

/** Whether only this machine can reach an address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Returns the page as HTML, and the policy that lets the browser run nothing but its own script. */
function rendered({ title, body, style, script }: Page): { html: string; policy: string } {
  const code = script.replace(/<\/script/gi, '<\\/script');
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(code)}`,
    `style-src ${sourceOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${body}
<script>${code}</script>
</body>
</html>
`;
  return { html, policy };
}

const headers = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The name in a `Host` header, without its port; `undefined` if it is none. */
function nameIn(header: string | undefined): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(header ?? '') ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/**
 * Whether a request was meant for this server. A foreign name that points here is that of a page elsewhere (DNS rebinding); an address
 * is none. The port may differ: it may be forwarded.
 */
function isOwnHost(header: string | undefined, host: string): boolean {
  const name = nameIn(header);
  if (name === undefined) return false;
  if (isLoopback(host)) return isLoopback(name);
  return isLoopback(name) || isIP(name) !== 0 || name === host.toLowerCase() || name === hostname().toLowerCase();
}

/** Whether a page elsewhere asks, in the name of the reader. A link to the page itself may stand anywhere. */
function isForeign({ headers: { origin, host, ...given }, url }: IncomingMessage): boolean {
  if (origin !== undefined && origin !== `http://${host}`) return true;
  const site = given['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return url !== '/' || given['sec-fetch-mode'] !== 'navigate';
}

const statusOf = ({ code }: PolicyError): number => (code === 'unknown_id' ? 404 : code === 'internal' ? 500 : 400);
/** Resolves when what has arrived meanwhile is known, or so many milliseconds later. */
const pause = (milliseconds = 0): Promise<void> =>
  new Promise((resolve) => (milliseconds > 0 ? setTimeout(resolve, milliseconds) : setImmediate(resolve)));
/** Milliseconds that a refusal waits. */
const penalty = 250;

/**
 * Serves a page.
 *
 * @throws PolicyError `invalid_input` for an address that others can reach without `tokenFile`, or a token that is too short; the
 *   system's error if it cannot listen
 */
export async function servePage({ page, answers, port, host, tokenFile, ...more }: PageOptions): Promise<PageServer> {
  if (!isLoopback(host) && tokenFile === undefined)
    refuse('invalid_input', '--token-file', '--token-file beside --host: others can reach this address', 'none');
  const limits = { ...pageLimits, ...more.limits };
  const key = randomBytes(18).toString('base64url');
  const isKey = tokenFile === undefined ? isToken(key) : tokenFromFile(tokenFile);
  const { html, policy } = rendered(page);

  const bytes = Buffer.from(html);

  const send = (
    response: ServerResponse,
    status: number,
    type: string,
    body: string | Buffer,
    extra: object = {},
  ): void => {
    response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8`, ...extra }).end(body);
  };
  let [refusals, delayed] = [0, 0];
  const refused = (response: ServerResponse, status: number, error: string): void => {
    const now = (): void =>
      send(response, status, 'application/json', JSON.stringify({ error }), { connection: 'close' });
    refusals += 1;
    setTimeout(() => (refusals -= 1), 1000).unref();
    if (refusals <= limits.refusals) return now();
    if (delayed >= limits.connections) return void response.destroy();
    delayed += 1;
    void pause(penalty).then(() => {
      delayed -= 1;
      now();
    });
  };

  /** Questions are answered one after the other, since each may take what the processor has. */
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const inTurn = (
    response: ServerResponse,
    answer: (gone: AbortSignal) => unknown,
    done: (found: unknown) => void,
  ): void => {
    if (waiting >= limits.waiting) return refused(response, 503, 'too many questions at once');
    waiting += 1;
    const failed = (error: unknown): void => {
      if (isPolicyError(error)) refused(response, statusOf(error), error.message);
      else refused(response, 500, error instanceof Error ? error.message : String(error));
    };
    last = last.then(async () => {
      await pause();
      // Who does not wait any longer is not answered: a slider is faster than its answers.
      if (response.destroyed) return void (waiting -= 1);
      let begun = performance.now();
      /** Lets others have their turn, for as long as the share of answers says. */
      const rest = async (): Promise<void> => {
        await pause((performance.now() - begun) * (1 / limits.share - 1));
        begun = performance.now();
      };
      const isDue = (): boolean => performance.now() - begun >= limits.turnMilliseconds;
      const completed = complete(answer, response, isDue, rest).then(done).catch(failed);
      // Where answers may take all of the time, searches are answered beside others.
      if (limits.share < 1) await completed.then(rest);
      waiting -= 1;
    });
  };

  const answering = new WeakSet<Socket>();
  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.milliseconds,
      requestTimeout: limits.milliseconds,
      connectionsCheckingInterval: limits.milliseconds / 4,
      keepAliveTimeout: 5000,
    },
    (request, response) => {
      const { method, url = '/', socket } = request;
      // No browser asks for more before it has its answer: who does so floods the server.
      if (answering.has(socket)) return void socket.destroy();
      answering.add(socket);
      response.once('close', () => answering.delete(socket));
      // A reader that does not read is cut off; nothing waits for it.
      response.setTimeout(limits.milliseconds, () => response.destroy());
      if (!isOwnHost(request.headers.host, host)) return refused(response, 421, 'not a name of this server');
      if (isForeign(request)) return refused(response, 403, 'only the page of this server may ask');
      const hasBody =
        request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
      if (method !== 'GET' || hasBody) return refused(response, 405, 'this server is read-only: GET, without a body');
      const [path = '/', query = ''] = url.split('?', 2);
      const page = (): void => send(response, 200, 'text/html', bytes, { 'content-security-policy': policy });
      if (path === '/') return inTurn(response, () => undefined, page);
      const name = path.replace(/^\/api\//, '');
      if (!path.startsWith('/api/') || !Object.hasOwn(answers, name))
        return refused(response, 404, 'there is no such page');
      const [, given = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      if (!isKey(given))
        return refused(response, 401, 'the key is missing or wrong: it is part of the URL that was printed');
      const found = (json: unknown): void => send(response, 200, 'application/json', json as string);
      inTurn(response, (gone) => answers[name]!(new URLSearchParams(query), gone), found);
    },
  );
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as { port: number };
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    port: bound.port,
    url: `http://${shown}:${bound.port}/${tokenFile === undefined ? `#key=${key}` : ''}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Does a computation in steps, as long as somebody waits for its result, and makes it JSON. */
async function complete(
  answer: (gone: AbortSignal) => unknown,
  response: ServerResponse,
  isDue: () => boolean,
  rest: () => Promise<void>,
): Promise<string | undefined> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let found = answer(gone.signal);
  if (found instanceof Promise) {
    // What another thread works out may take longer than a reader may.
    const { timeout = 0 } = response.socket ?? {};
    response.setTimeout(0);
    found = await found;
    if (response.destroyed) return undefined;
    response.setTimeout(timeout);
  }
  if (typeof found !== 'object' || found === null || !(Symbol.iterator in found) || !('next' in found))
    return JSON.stringify(found);
  const steps = found as Generator<undefined, unknown>;
  while (!response.destroyed) {
    const { done, value } = steps.next();
    if (done === true) return JSON.stringify(value);
    if (isDue()) await rest();
  }
  return undefined;
}
