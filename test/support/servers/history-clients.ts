/** Clients in processes of their own, and the history of what they called and were told. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { listed, type Recorded, type Streamed } from './history.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was said on the wire
type Json = any;
export type Address = { readonly path: string } | { readonly port: number };
/** How a client leaves its connection once it has sent its calls. */
export type Leaving = 'end in the middle' | 'leave' | 'half-close';
export interface Call {
  readonly method: string;
  readonly params: Json;
}

const now = (): number => Number(process.hrtime.bigint());

/** All calls of a run, and when each server ended. */
export class History {
  readonly #sessions = new Map<string, (Recorded & { readonly server: number })[]>();
  streamed: Streamed[] = [];
  /** When the server of this number was gone: nothing that was sent to it takes effect later. */
  readonly #ends = new Map<number, number>();

  /** Begins the history of a session. */
  begin(session: string): void {
    this.#sessions.set(session, []);
  }

  add(call: Recorded, server: number): void {
    const { method, params } = call;
    if (method !== 'session.list') this.#sessions.get(params.session)?.push({ ...call, server });
    else for (const [session, calls] of this.#sessions) calls.push({ ...listed(session, call), server });
  }

  ended(server: number): void {
    this.#ends.set(server, now());
  }

  /** Ends the history of a session. */
  take(session: string): { readonly calls: Recorded[]; readonly streamed: Streamed[] } {
    const calls = this.#sessions.get(session)!.map(({ server, ...call }) => {
      return call.isLost ? { ...call, to: this.#ends.get(server) ?? Number.POSITIVE_INFINITY } : call;
    });
    this.#sessions.delete(session);
    const streamed = this.streamed.filter((one) => one.session === session);
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
  readonly #subscribed = new Map<string, { number: number; readonly from: number }>();
  #connections = 0;
  #server = 0;
  #id = 0;
  isConnected = false;
  isDead = false;
  /** What it does once it has sent its next calls. */
  next: Leaving | undefined;
  onGone: () => void = () => undefined;
  readonly #wrong: (error: Error) => void;

  /** @param wrong - is told of what should not have been sent */
  constructor(name: string, history: History, wrong: (error: Error) => void) {
    this.#name = name;
    this.#history = history;
    this.#wrong = wrong;
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
    this.#send({ calls: numbered, leaving: this.next });
    this.next = undefined;
    return made;
  }

  /** Number of the last decision of a session that came; nothing without a subscription. */
  seen(session: string): number | undefined {
    const found = this.#subscribed.get(session);
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

  #answered(id: number, { from, to, isLost, isEarly, result, error }: Json): void {
    if (isEarly) this.#wrong(new Error(`${this.#name}: the answer to call ${id} came before that to an earlier one`));
    const waiting = this.#waiting.get(id)!;
    this.#waiting.delete(id);
    const { method, params, connection, server, resolve } = waiting;
    const recorded: Recorded = isLost
      ? { method, params, connection, from, to: Number.POSITIVE_INFINITY, isLost }
      : { method, params, connection, from, to, ...(error === undefined ? { result } : { error }) };
    this.#history.add(recorded, server);
    if (method === 'session.subscribe' && result !== undefined) {
      this.#subscribed.set(params.session, { number: (params.after ?? result.acknowledged) + 1, from });
    }
    if (method === 'session.unsubscribe' && result !== undefined) this.#subscribed.delete(params.session);
    resolve(recorded);
  }

  #decided({ session, decisionSeq, decision }: Json, to: number): void {
    const next = this.#subscribed.get(session);
    if (next === undefined || next.number !== decisionSeq) {
      return this.#wrong(new Error(`${session}: decision ${decisionSeq} came in place of ${next?.number ?? 'none'}`));
    }
    next.number += 1;
    const last = this.#history.streamed.at(-1);
    const isMore = last !== undefined && last.session === session && last.to === to && last.from === next.from;
    if (isMore && last.first + last.decisions.length === decisionSeq) (last.decisions as unknown[]).push(decision);
    else this.#history.streamed.push({ session, from: next.from, to, first: decisionSeq, decisions: [decision] });
  }

  #gone(): void {
    this.isConnected = false;
    this.#subscribed.clear();
    // Of a client that was killed, nothing tells what it was answered.
    if (this.isDead) for (const [id, { from }] of [...this.#waiting]) this.#answered(id, { from, isLost: true });
    this.onGone();
  }
}
