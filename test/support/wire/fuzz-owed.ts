/** What a server owes to whatever is sent to it, said without the server: which answers, and which state of the session. */
import { isDeepStrictEqual } from 'node:util';
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { create, type LooseEvent } from '../../../src/core/machine/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { registry } from '../../../src/registry.ts';

export interface Answer {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly data: Record<string, unknown> };
}

export const fuzzLimits = {
  maxMessageBytes: 4096,
  maxDepth: 64,
  maxBatchCalls: 4,
  maxSessions: 40,
  maxEventsPerCall: 50,
};

/** What must come for a line: nothing, an error of one of these codes, or an answer with an id to a call. */
export type Owed =
  | undefined
  | { readonly codes: readonly number[] }
  | { readonly id: unknown; readonly call: Record<string, unknown> };

const decoder = new TextDecoder('utf-8', { fatal: true });

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function owedToOne(message: unknown): Owed {
  const invalid = { codes: [-32600] };
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return invalid;
  const { jsonrpc, method, id, params } = message as Record<string, unknown>;
  const isId = id === undefined || id === null || ['string', 'number'].includes(typeof id);
  const areParams = params === undefined || (typeof params === 'object' && params !== null);
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId || !areParams) return invalid;
  if (id === undefined) return undefined;
  return { id: JSON.parse(JSON.stringify(id)), call: message as Record<string, unknown> };
}

/** What must come for a line without its line break: one answer, a list of them, or none. */
export function owed(line: Uint8Array): Owed | { readonly all: readonly Owed[] } {
  if (line.length > fuzzLimits.maxMessageBytes) return { codes: [-32000] };
  if (line.length === 0) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(decoder.decode(line));
  } catch {
    // Too deep before it is wrong, or the other way round.
    return { codes: [-32700, -32000] };
  }
  if (depthOf(message) > fuzzLimits.maxDepth) return { codes: [-32000] };
  if (!Array.isArray(message)) return owedToOne(message);
  if (message.length === 0) return { codes: [-32600] };
  if (message.length > fuzzLimits.maxBatchCalls) return { codes: [-32000] };
  const all = message.map(owedToOne).filter((one) => one !== undefined);
  return all.length === 0 ? undefined : { all };
}

const codes = [-32600, -32601, -32602, -32000];

/** Throws where an answer is not what was owed. */
export function assertPaid(due: NonNullable<Owed>, answer: Answer): void {
  const text = JSON.stringify(answer).slice(0, 400);
  if (answer.jsonrpc !== '2.0') throw new Error(`no answer: ${text}`);
  if (answer.error !== undefined) {
    const { code, data } = answer.error;
    if (!('codes' in due ? due.codes : codes).includes(code)) throw new Error(`not this error: ${text}`);
    for (const key of ['code', 'expected', 'got', 'path']) {
      if (typeof data[key] !== 'string') throw new Error(`an error without ${key}: ${text}`);
    }
  } else if ('codes' in due || answer.result === undefined) throw new Error(`an error was due: ${text}`);
  if (!isDeepStrictEqual(answer.id, 'codes' in due ? null : due.id)) throw new Error(`another id: ${text}`);
}

/** The session that is attacked, as it must be: the same policy in process, with what the server says it has applied. */
export class AttackedModel {
  readonly session: string;
  #policy;
  /** Whether the time of an event was the server's: then the state has to be asked for. */
  isUnsure = false;
  isOpen = true;
  /** Whether it is another session than at the beginning: it may stream, and have timers of the server. */
  isAnother = false;

  constructor(session: string, policy: string, config: unknown) {
    this.session = session;
    this.#policy = create(registry.get(policy) as AnyPolicyDefinition, config);
  }

  get seq(): number {
    return this.#policy.seq;
  }

  get snapshot(): unknown {
    return JSON.parse(JSON.stringify(this.#policy.snapshot()));
  }

  restore(snapshot: unknown): void {
    this.#resume(snapshot);
    this.isUnsure = false;
  }

  #resume(snapshot: unknown): void {
    const { policy } = snapshot as { policy: string };
    this.#policy = create(registry.get(policy as never) as never, { snapshot }) as never;
  }

  /** A call, and what it was answered. */
  happened({ method, params }: Record<string, unknown>, answer: Answer): void {
    const given = params as { session?: unknown; events?: LooseEvent[]; onExisting?: unknown; snapshot?: unknown };
    if (given?.session !== this.session) return;
    if (method === 'session.close' && answer.result !== undefined) this.isOpen = false;
    if (method === 'session.open' && answer.result !== undefined) this.#opened(params as never);
    if (method !== 'session.send') return;
    const seq = (answer.result ?? answer.error?.data)?.seq;
    if (typeof seq === 'number') this.#applied(given.events!, seq - this.seq, answer);
  }

  #opened({ policy, config, snapshot, onExisting, deliver, timers }: Record<string, unknown>): void {
    if (this.isOpen && onExisting !== 'replace') return;
    // Timers of the server, and notifications that send to a stream, change it without an answer.
    if (timers === 'server' || deliver === 'stream') this.isUnsure = true;
    this.isOpen = true;
    this.isAnother = true;
    if (snapshot !== undefined) return this.#resume(snapshot);
    this.#policy = create(registry.get(policy as string) as AnyPolicyDefinition, config);
  }

  #applied(events: readonly LooseEvent[], count: number, answer: Answer): void {
    // Of a session that does things by itself nothing can be said.
    if (count <= 0 || this.isUnsure) return;
    if (count > events.length) throw new Error(`${count} events were applied, of ${events.length}`);
    const decisions: unknown[] = [];
    for (const event of events.slice(0, count)) {
      if (!Object.hasOwn(event, 'at')) this.isUnsure = true;
      const timed = Object.hasOwn(event, 'at') ? event : { ...event, at: 1000 };
      try {
        decisions.push(...this.#policy.send(timed as never));
      } catch (error) {
        if (isPolicyError(error)) throw new Error(`applied, but refused in process: ${JSON.stringify(event)}`);
        throw error;
      }
    }
    const { decisions: told, decisionSeq } = answer.result ?? answer.error!.data;
    if (decisionSeq !== undefined) return;
    const isSame = isDeepStrictEqual(told, JSON.parse(JSON.stringify(decisions)));
    if (!this.isUnsure && !isSame) throw new Error(`other decisions: ${JSON.stringify(told).slice(0, 400)}`);
  }
}
