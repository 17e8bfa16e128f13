/** A client of a server in another process: a line out, a line in, any number of calls under way. */
import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
type Json = any;

/** The connection is gone, and with it the answer. */
export class Gone extends Error {
  override readonly message = 'the server has closed the connection';
}

export class LineClient {
  readonly #output: Writable;
  /** Is given the parameters of what the server sends by itself. */
  notified: (params: Json) => void;
  readonly #waiting = new Map<number, { resolve(answer: Json): void; reject(error: Gone): void }>();
  #rest = '';
  #id = 0;
  #gone = false;

  /** @param notified - takes the parameters of `session.decision`; any other message by itself is an error */
  constructor(input: Readable, output: Writable, notified: (params: Json) => void = () => undefined) {
    this.#output = output;
    this.notified = notified;
    input.setEncoding('utf8').on('data', (text) => this.#read(String(text)));
    for (const stream of [input, output]) {
      stream.on('error', () => this.#end());
      stream.on('close', () => this.#end());
    }
  }

  /** Result or error. Rejects with {@link Gone}. */
  reply(method: string, params: object): Promise<{ result?: Json; error?: Json }> {
    if (this.#gone) return Promise.reject(new Gone());
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  async call(method: string, params: object): Promise<Json> {
    const { result, error } = await this.reply(method, params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  end(): void {
    this.#output.end();
  }

  // The last line of a server that was killed may be cut off: it stays in the rest.
  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(JSON.parse(line), line);
  }

  #take({ method, params, ...answer }: Json, line: string): void {
    if (method === 'session.decision') return this.notified(params);
    const call = this.#waiting.get(answer.id);
    if (call === undefined && !this.#gone) throw new Error(`not asked for: ${line}`);
    this.#waiting.delete(answer.id);
    call?.resolve(answer);
  }

  #end(): void {
    this.#gone = true;
    for (const { reject } of this.#waiting.values()) reject(new Gone());
    this.#waiting.clear();
  }
}

/** What a transport needs to be started and reached. */
export interface Transport {
  readonly options: readonly string[];
  connect(child: ChildProcess, notified: (params: Json) => void): Promise<LineClient>;
}

export const stdio: Transport = {
  options: ['--stdio'],
  connect: (child, notified) => Promise.resolve(new LineClient(child.stdout!, child.stdin!, notified)),
};

/** The address of a server, once it listens. */
export function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Gone()));
    createInterface({ input: child.stderr! }).on('line', (line) => {
      const [, address] = /listening at (.*)$/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
}

/** A socket that is connected. */
export const opened = (address: { path: string } | { port: number }): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(address as never, () => resolve(socket));
    socket.once('error', reject);
  });

export const unixSocket = (path: string): Transport => ({
  options: ['--socket', path],
  async connect(child, notified) {
    const socket = await opened({ path: await listening(child) });
    return new LineClient(socket, socket, notified);
  },
});

/** @param file - holds the token */
export const tcp = (file: string, token: string): Transport => ({
  options: ['--port', '0', '--token-file', file],
  async connect(child, notified) {
    const port = Number((await listening(child)).split(':').pop());
    const socket = await opened({ port });
    const client = new LineClient(socket, socket, notified);
    await client.call('server.authenticate', { token });
    return client;
  },
});
