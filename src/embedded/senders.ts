/**
 * A fast path for calls of `session.send` whose text before the events equals that of an earlier call: only the events are parsed,
 * and the answer is made as text around the decisions. In an interpreting engine, the rest of a message takes half of the time of
 * an event.
 */

import type { Request } from '../rpc/connection/request.ts';
import type { ParamsOf, ResultOf } from '../rpc/methods/methods.ts';

type Sent = ParamsOf<'session.send'>;
type Result = ResultOf<'session.send'>;

const start = '{"jsonrpc":"2.0","id":1,"method":"session.send","params":';
const number = ',"firstSeq":';
const list = ',"events":';
const end = '}}';
const most = 1024;

/** A producer of a session, and the sequence number of its next event. */
export interface Sender {
  readonly session: string;
  readonly producer: string;
  firstSeq: number;
}

/** The producers whose calls the fast path knows. */
export class Senders {
  readonly #known = new Map<string, Sender>();

  /** Stores the text before the events of an answered call, which the schema has accepted. */
  learn(text: string, { method, params }: Request, { nextSeq }: Result): void {
    if (method !== 'session.send' || nextSeq === undefined) return;
    const { session, producer } = params as Sent & { producer: string };
    const head = start + JSON.stringify({ session, producer }).slice(0, -1);
    if (!text.startsWith(head + number)) return;
    if (this.#known.size === most) this.#known.clear();
    this.#known.set(head, { session, producer, firstSeq: nextSeq });
  }

  /** Reads the next call of a known sender; returns nothing if the whole text must be parsed. */
  read(text: string): { readonly sender: Sender; readonly events: unknown[] } | undefined {
    if (!text.startsWith(start)) return undefined;
    const at = text.indexOf(number, start.length);
    const sender = at < 0 ? undefined : this.#known.get(text.slice(0, at));
    if (sender === undefined) return undefined;
    const next = sender.firstSeq + list;
    if (!text.startsWith(next, at + number.length) || !text.endsWith(end)) return undefined;
    try {
      const events: unknown = JSON.parse(text.slice(at + number.length + next.length, -end.length));
      return Array.isArray(events) ? { sender, events } : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Returns the answer to a call with id 1, in the form that `JSON.stringify` would write. */
export function answerText(result: Result): string {
  if (result.nextSeq === undefined || result.more !== undefined || result.decisionSeq !== undefined)
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  const { seq, nextSeq } = result;
  const head = `{"jsonrpc":"2.0","id":1,"result":{"seq":${seq},"nextSeq":${nextSeq},"decisions":`;
  // JavaScript engines keep a concatenated text in pieces, which the host cannot read; `join` makes one piece.
  return [head, JSON.stringify(result.decisions), end].join('');
}
