/** A server in a test: a clock that is moved by hand, and clients whose reading can be stopped. */
import { expect } from 'vitest';
import { type Clock, type Link, RpcServer, type Served, type ServerOptions } from '../../../src/rpc/index.ts';

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  time = 1000;
  /** Seconds by which it moves whenever it is looked at: calls that take long pause then. No timer is due by that. */
  perLook = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly callback: () => void }>();

  now(): number {
    this.time += this.perLook;
    return this.time;
  }

  after(seconds: number, callback: () => void): () => void {
    const one = { at: this.time + seconds, callback };
    this.#waiting.add(one);
    return () => void this.#waiting.delete(one);
  }

  soon(callback: () => void): void {
    setImmediate(callback);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  move(seconds: number): void {
    const until = this.time + seconds;
    for (;;) {
      const [next] = [...this.#waiting].filter((one) => one.at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.time = Math.max(this.time, next.at);
      next.callback();
    }
    this.time = until;
  }
}

type Json = Record<string, unknown>;
export interface Reply {
  readonly id: unknown;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data: Json };
}

/** A client in memory. */
export class WireClient implements Link {
  readonly connection: Served | undefined;
  readonly lines: string[] = [];
  /** Whether it has stopped reading. */
  stalled = false;
  destroyed = false;
  waiting = 0;
  #id = 0;
  #readers: (() => void)[] = [];

  constructor(server: RpcServer) {
    this.connection = server.connect(this);
  }

  write(text: string): void {
    if (this.destroyed) return;
    expect(text.endsWith('\n')).toBe(true);
    this.lines.push(text.slice(0, -1));
    if (this.stalled) this.waiting += text.length;
  }

  drained(): Promise<void> {
    return this.waiting === 0 ? Promise.resolve() : new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Reads all that waits. */
  read(): void {
    this.waiting = 0;
    for (const settle of this.#readers.splice(0)) settle();
  }

  destroy(): void {
    this.destroyed = true;
    this.read();
    this.connection?.close();
  }

  /** Sends bytes as they are. */
  async raw(text: string | Uint8Array): Promise<void> {
    await this.connection!.receive(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  }

  /** Sends a line, and gives the lines that came. */
  async line(value: unknown): Promise<unknown[]> {
    const from = this.lines.length;
    await this.raw(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
    return this.lines.slice(from).map((one) => JSON.parse(one));
  }

  async reply(method: string, params?: unknown): Promise<Reply> {
    const id = ++this.#id;
    const lines = (await this.line({ jsonrpc: '2.0', id, method, params })) as Reply[];
    return lines.find((one) => one.id === id)!;
  }

  /** The result of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results by hand
  async call(method: string, params?: unknown): Promise<any> {
    const reply = await this.reply(method, params);
    expect(reply.error).toBeUndefined();
    return reply.result;
  }

  /** The error of a call that must fail. */
  async fails(method: string, params: unknown, expected: Json, code = -32000): Promise<Json> {
    const { error, result } = await this.reply(method, params);
    expect(result).toBeUndefined();
    expect(error!.code, error!.message).toBe(code);
    expect(error!.data).toMatchObject(expected);
    return error!.data;
  }

  /** The decisions that were pushed since the last time. */
  pushed(): { session: string; decisionSeq: number; decision: { type: string; [field: string]: unknown } }[] {
    const found = this.lines.map((one) => JSON.parse(one)).filter((one) => one.method === 'session.decision');
    this.lines.length = 0;
    return found.map((one) => one.params);
  }
}

/** A server with its clock, and a first client. */
export function rpc(options: ServerOptions = {}) {
  const clock = new HandClock();
  const server = new RpcServer({ clock, ...options });
  return { clock, server, client: new WireClient(server) };
}

export const tail = { policy: 'tail-batching', config: { promptsPerRound: 2, responsesPerPrompt: 2 } };

/** A round of three prompts. */
export const openingEvents = (round = 'r1', prefix = '') => [
  { type: 'round.requested', at: 0, roundId: round, weightVersion: 1 },
  {
    type: 'prompts.supplied',
    at: 0,
    roundId: round,
    prompts: ['a', 'b', 'c'].map((one) => ({ promptId: `${prefix}${one}` })),
  },
];

export const completed = (requestId: string, at = 1) => ({ type: 'response.completed', at, requestId, tokens: 10 });
