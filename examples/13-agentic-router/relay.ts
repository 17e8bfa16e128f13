/** Passes a request on to an engine, and streams the answer through: at most what sockets buffer is held at a time. */
import {
  type Agent,
  request as callOf,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';

/** What the client has sent: it may have to be sent again. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: readonly Buffer[];
  readonly bytes: number;
}

/** Where it goes. */
export interface Target {
  readonly url: string;
  readonly agent: Agent;
  /** Key of the engine; the client's own is passed on if it has none. */
  readonly apiKey: string | undefined;
  readonly connectSeconds: number;
  /** Without a byte for so long, whether from the engine or to the client, the connection is given up. */
  readonly silenceSeconds: number;
}

/** How it went: `failed` may be tried elsewhere while nothing was `sent` to the client. */
export type Outcome =
  | { readonly kind: 'ended'; readonly usage: Usage }
  | { readonly kind: 'client_gone' }
  | { readonly kind: 'failed'; readonly sent: false | 'stream' | 'whole'; readonly error: Error };

/** Tokens, where the answer tells them. */
export interface Usage {
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
  readonly cached: number | undefined;
}

const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
]);
const passedOn = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheConnection.has(name)));

/** Sends the request, and the answer to the client, with these headers beside the engine's. */
export function relay(
  asked: Asked,
  target: Target,
  response: ServerResponse,
  more: Record<string, string>,
): Promise<Outcome> {
  if (response.destroyed) return Promise.resolve({ kind: 'client_gone' });
  const { url, agent, apiKey, connectSeconds, silenceSeconds } = target;
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { ...passedOn(asked.headers), ...key, 'content-length': asked.bytes };
  return new Promise((resolve) => {
    let answer: IncomingMessage | undefined;
    let sent: false | 'stream' | 'whole' = false;
    /** The last pieces of the answer: they say how many tokens there were. */
    let [before, last]: (Buffer | undefined)[] = [];
    const settle = (outcome: Outcome): void => {
      clearTimeout(connecting);
      response.off('close', gone);
      resolve(outcome);
    };
    const fail = (error: Error): void => {
      answer?.unpipe(response);
      call.destroy();
      settle({ kind: 'failed', sent, error });
    };
    const gone = (): void => {
      // The engine sees that nobody listens any more, and aborts the request.
      call.destroy();
      settle({ kind: 'client_gone' });
    };
    const call = callOf(new URL(asked.path, url), { method: 'POST', agent, headers });
    const connecting = setTimeout(
      () => call.destroy(new Error(`no connection in ${connectSeconds} s`)),
      connectSeconds * 1000,
    );
    call.on('socket', (socket) => {
      if (!socket.connecting) clearTimeout(connecting);
      else socket.once('connect', () => clearTimeout(connecting));
    });
    call.setTimeout(silenceSeconds * 1000, () => call.destroy(new Error(`silence for ${silenceSeconds} s`)));
    call.on('error', fail);
    call.on('response', (given) => {
      answer = given;
      // Before the first byte the turn can still go elsewhere.
      const begin = (): void => {
        if (sent !== false) return;
        sent = `${given.headers['content-type']}`.startsWith('text/event-stream') ? 'stream' : 'whole';
        response.writeHead(given.statusCode ?? 502, { ...passedOn(given.headers), ...more });
      };
      given.on('data', (piece: Buffer) => {
        begin();
        before = last;
        last = piece;
      });
      given.on('error', fail);
      given.on('end', () => {
        begin();
        response.end();
        settle({ kind: 'ended', usage: usageIn(before, last) });
      });
      given.pipe(response, { end: false });
    });
    response.on('close', gone);
    for (const part of asked.body) call.write(part);
    call.end();
  });
}

/** Reads the counts that an answer ends with, in the words of OpenAI's API, and of SGLang's. */
export function usageIn(...pieces: readonly (Buffer | undefined)[]): Usage {
  const end = Buffer.concat(pieces.filter((one) => one !== undefined));
  const numberOf = (name: string): number | undefined => {
    const at = end.lastIndexOf(`"${name}":`);
    const found = at < 0 ? null : /^\s*(\d+)/.exec(end.toString('latin1', at + name.length + 3, at + name.length + 20));
    return found === null ? undefined : Number(found[1]);
  };
  return {
    prompt: numberOf('prompt_tokens'),
    completion: numberOf('completion_tokens'),
    cached: numberOf('cached_tokens'),
  };
}
