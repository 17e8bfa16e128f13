/** Clients in processes of their own, and the history of what they called and were told. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Recorded, Streamed } from './history.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was said on the wire
type Json = any;
export type Address = { readonly path: string } | { readonly port: number };
/** What a client does after it has sent its calls. */
export type Then = 'end in the middle' | 'leave' | 'half-close';
export interface Call {
  readonly method: string;
  readonly params: Json;
}

const now = (): number => Number(process.hrtime.bigint());

/** All calls of a run, and when each server ended. */
export class History {
  #calls: (Recorded & { readonly server: number })[] = [];
  streamed: Streamed[] = [];
  /** When the server of this number was gone: nothing that was sent to it takes effect later. */
  readonly #ends = new Map<number, number>();

  add(call: Recorded, server: number): void {
    this.#calls.push({ ...call, server });
  }

  ended(server: number): void {
    this.#ends.set(server, now());
  }

  /** What there is of a session, which is forgotten; lists of all sessions stay. */
  take(session: string): { readonly calls: Recorded[]; readonly streamed: Streamed[] } {
    const isOf = ({ params }: Recorded): boolean => params.session === session;
    const calls = this.#calls
      .filter((one) => isOf(one) || one.method === 'session.list')
      .map(({ server, ...call }) =>
        call.isLost ? { ...call, to: this.#ends.get(server) ?? Number.POSITIVE_INFINITY } : call,
      );
    const streamed = this.streamed.filter((one) => one.session === session);
    this.#calls = this.#calls.filter((one) => !isOf(one));
    this.streamed = this.streamed.filter((one) => one.session !== session);
    return { calls, streamed };
  }
}

interface Waiting extends Call {
  readonly from: number;
  readonly connection: string;
  readonly server: number;
  resolve(recorded: Recorded): void;
}

/** A client process with one connection at a time. */
export class HistoryClient {
  readonly child: ChildProcess;
  readonly #name: string;
  readonly #history: History;
  readonly #waiting = new Map<number, Waiting>();
  /** Of each session the number of the next decision, and when the subscription was asked for. */
  readonly #next = new Map<string, { number: number; readonly from: number }>();
  #connections = 0;
  #server = 0;
  #id = 0;
  isConnected = false;
  isDead = false;
  /** What it does after it has sent its next calls. */
  then: Then | undefined;
  /** Throws away what went wrong with the stream, for the run to find. */
  wrong: Error | undefined;
  onGone: () => void = () => undefined;

  constructor(name: string, history: History) {
    this.#name = name;
    this.#history = history;
    const path = fileURLToPath(new URL('./history-client.mjs', import.meta.url));
    this.child = fork(path, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child.on('message', (reports: Json[]) => {
      for (const one of reports) this.#take(one);
    });
    this.child.once('disconnect', () => {
      this.isDead = true;
      this.#gone();
    });
    this.child.on('error', () => undefined);
  }

  connect(address: Address, token: string | undefined, server: number): void {
    this.#connections += 1;
    this.#server = server;
    this.#send({ address, token });
  }

  /** Breaks the connection. */
  break(): void {
    this.#send({});
  }

  /** Sends calls at once; what comes of each. */
  send(calls: readonly Call[]): Promise<Recorded>[] {
    const from = now();
    const connection = `${this.#name}/${this.#connections}`;
    const numbered = calls.map((one) => ({ id: (this.#id += 1), ...one }));
    const made = numbered.map(
      ({ id, ...one }) =>
        new Promise<Recorded>((resolve) => {
          this.#waiting.set(id, { ...one, from, connection, server: this.#server, resolve });
        }),
    );
    this.#send({ calls: numbered, then: this.then });
    this.then = undefined;
    return made;
  }

  /** Number of the last decision of a session that came; nothing without a subscription. */
  seen(session: string): number | undefined {
    const found = this.#next.get(session);
    return found === undefined ? undefined : found.number - 1;
  }

  #send(message: object): void {
    if (!this.isDead) this.child.send(message, () => undefined);
    else this.#gone();
  }

  #take({ id, method, params, isConnected, gone, ...rest }: Json): void {
    if (method === 'session.decision') this.#decided(params, rest.to);
    else if (method !== undefined) return;
    else if (isConnected) this.isConnected = true;
    else if (gone) this.#gone();
    else this.#answered(id, rest);
  }

  #answered(id: number, { from, to, isLost, result, error }: Json): void {
    const waiting = this.#waiting.get(id)!;
    this.#waiting.delete(id);
    const { method, params, connection, server, resolve } = waiting;
    const recorded: Recorded = isLost
      ? { method, params, connection, from, to: Number.POSITIVE_INFINITY, isLost }
      : { method, params, connection, from, to, ...(error === undefined ? { result } : { error }) };
    this.#history.add(recorded, server);
    if (method === 'session.subscribe' && result !== undefined) {
      this.#next.set(params.session, { number: (params.after ?? result.acknowledged) + 1, from });
    }
    if (method === 'session.unsubscribe' && result !== undefined) this.#next.delete(params.session);
    resolve(recorded);
  }

  #decided({ session, decisionSeq, decision }: Json, to: number): void {
    const next = this.#next.get(session);
    if (next?.number !== decisionSeq) {
      this.wrong ??= new Error(`${session}: decision ${decisionSeq} came in place of ${next?.number ?? 'none'}`);
      return;
    }
    next.number += 1;
    const last = this.#history.streamed.at(-1);
    const isMore = last?.session === session && last.to === to && last.first + last.decisions.length === decisionSeq;
    if (isMore && last.from === next.from) (last.decisions as unknown[]).push(decision);
    else this.#history.streamed.push({ session, from: next.from, to, first: decisionSeq, decisions: [decision] });
  }

  #gone(): void {
    this.isConnected = false;
    this.#next.clear();
    // Of a client that was killed, nothing tells what it was answered.
    if (this.isDead) for (const [id, { from }] of [...this.#waiting]) this.#answered(id, { from, isLost: true });
    this.onGone();
  }
}
