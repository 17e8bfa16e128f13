/** One connection of a simulated client: its calls, and the check of all that the server says to them. */
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { type Books, isSent } from './books.ts';
import type { ModelSession } from './model.ts';
import type { World } from './world.ts';

type Json = Record<string, unknown>;

/** An answer as the client gets it. */
export interface Reply {
  readonly id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into by hand
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: { readonly code: number; readonly data: any };
}

/** A call of a client. */
export interface Call {
  readonly method: string;
  readonly params: Json;
  /** Codes of errors as a whole that may be its answer. */
  readonly mayFail: readonly string[];
  /** Steps of the server when it was first sent. */
  readonly since: number;
}

interface Asked extends Call {
  readonly answered: (reply: Reply) => void;
}

interface Subscribed {
  /** The sessions that it may have subscribed to: there may have been two with the id since the call. */
  models: ModelSession[];
  next: number;
  readonly types: readonly string[] | undefined;
}

/** What all conversations with a server share. */
export interface Common {
  readonly world: World;
  readonly books: Books;
  readonly definitions: readonly AnyPolicyDefinition[];
  readonly pageDecisions: number;
  /** Answers that were told, by session, producer, number and length of the call. */
  readonly told: Map<string, string>;
  /** All decisions of answers with pages, by session and name. */
  readonly pages: Map<string, readonly string[]>;
  /** Producers that are not done. */
  busy: number;
  /** The text of a plan, or the code of its error. */
  planOf(params: Json): string;
}

/** Whether a call was not made because the answers before it in its batch are long. */
export const isCrowdedOut = (error: Reply['error']): boolean =>
  String(error?.data?.expected).startsWith('answers of a batch');

const pageOf = ({ id, opened }: ModelSession, more: string): string =>
  JSON.stringify([id, opened, more.slice(0, more.indexOf('-'))]);

/** The calls on one connection. */
export class Conversation {
  readonly #common: Common;
  readonly #name: string;
  readonly #asked = new Map<unknown, Asked>();
  /** Ids whose answers must come in this order; an inner list is a batch. */
  readonly #owed: unknown[][] = [];
  readonly #plans = new Set<unknown>();
  readonly #subscribed = new Map<string, Subscribed>();
  /** Called with each streamed decision and each end of a session. */
  readonly #heard: (method: string, params: Json) => void;

  constructor(common: Common, name: string, heard: (method: string, params: Json) => void) {
    this.#common = common;
    this.#name = name;
    this.#heard = heard;
  }

  /** The client sends calls, as one batch or one after the other. */
  asks(calls: readonly (Asked & { readonly id: unknown })[], isBatch: boolean): void {
    for (const { id, ...call } of calls) this.#asked.set(id, call);
    if (isBatch) return void this.#owed.push(calls.map(({ id }) => id));
    for (const { id, method } of calls) {
      if (method === 'plan') this.#plans.add(id);
      else this.#owed.push([id]);
    }
  }

  /** Whether a call with this id has no answer yet. */
  awaits(id: unknown): boolean {
    return this.#asked.has(id);
  }

  /** The server hands text over to the connection: it must be right, and it must be kept. */
  handed(text: string): void {
    const { books } = this.#common;
    if (!text.endsWith('\n')) books.broken(6, `a line without its end: ${text}`);
    for (const line of text.slice(0, -1).split('\n')) {
      const message = JSON.parse(line) as Reply | Reply[] | { method: string; params: Json };
      if ('method' in message) this.#notified(message.method, message.params);
      else this.#replied(Array.isArray(message) ? message : [message]);
    }
  }

  /** The text has come to the client. */
  line(text: string): void {
    const message = JSON.parse(text) as Reply | Reply[] | { method: string; params: Json };
    if ('method' in message) return this.#heard(message.method, message.params);
    for (const reply of Array.isArray(message) ? message : [message]) {
      const { id } = reply;
      this.#asked.get(id)?.answered(reply);
      this.#asked.delete(id);
    }
  }

  #replied(replies: readonly Reply[]): void {
    const { books } = this.#common;
    const ids = replies.map(({ id }) => id);
    const [id] = ids;
    if (ids.length > 1 || !this.#plans.delete(id)) {
      const owed = this.#owed.shift() ?? [];
      if (JSON.stringify(owed) !== JSON.stringify(ids))
        return books.broken(6, `${this.#name} is owed an answer to ${owed}, and gets one to ${ids}`);
    }
    for (const reply of replies) {
      const call = this.#asked.get(reply.id);
      if (call === undefined) return books.broken(6, `${this.#name} gets a second answer to ${reply.id}`);
      const wrong = this.#wrongIn(call, reply);
      if (wrong !== undefined) {
        const [asked, got] = [JSON.stringify(call.params), JSON.stringify(reply)];
        return books.broken(5, `${this.#name}: ${call.method} ${asked}\n  is answered by ${got}\n  ${wrong}`);
      }
    }
  }

  #wrongIn(call: Call, reply: Reply): string | undefined {
    const { method, params, mayFail, since } = call;
    const { result, error } = reply;
    const models = typeof params.session === 'string' ? this.#common.books.since(params.session, since) : [];
    if (error !== undefined && error.data?.index === undefined) return this.#wrongError(call, error, models);
    if (mayFail.includes('must')) return `it must fail: ${mayFail}`;
    switch (method) {
      case 'session.send':
        return this.#oneOf(models, (one) => this.#wrongSend(one, params, reply));
      case 'session.open':
        return this.#oneOf(this.#common.books.since(result.session, since), (one) => this.#wrongSeq(one, result.seq));
      case 'session.more':
        return this.#oneOf(models, (one) => this.#wrongPage(one, params.more as string, result));
      case 'session.snapshot':
        return this.#oneOf(models, (one) => this.#wrongSnapshot(one, result));
      case 'session.why':
        return this.#oneOf(models, (one) => this.#wrongWhy(one, result));
      case 'session.close':
        return this.#oneOf(models, (one) => {
          if (one.closed === Number.POSITIVE_INFINITY) return 'it is still open';
          this.#common.books.tell(one.closed, `the end of ${one.id}`);
          return undefined;
        });
      case 'session.list':
        return this.#wrongList(result, since);
      case 'session.subscribe':
        return this.#subscribedTo(models, params, result);
      case 'session.unsubscribe':
        this.#subscribed.delete(params.session as string);
        return undefined;
      case 'session.ack':
        return this.#oneOf(models, (one) => {
          if (result.acknowledged > one.decisionSeq) return `there are ${one.decisionSeq} decisions`;
          if (models.length === 1) this.#common.books.tellAcknowledged(one, result.acknowledged);
          return undefined;
        });
      case 'plan': {
        const plan = this.#common.planOf(params);
        return JSON.stringify(result.plan) === plan ? undefined : `the plan is ${plan}`;
      }
      default:
        return undefined;
    }
  }

  /** Nothing if one of the sessions fits: an id may have been used for two since the call. */
  #oneOf(models: readonly ModelSession[], wrongIn: (model: ModelSession) => string | undefined): string | undefined {
    let wrong: string | undefined = 'there was no such session';
    for (const one of models) {
      wrong = wrongIn(one);
      if (wrong === undefined) return undefined;
    }
    return wrong;
  }

  #wrongError(
    { mayFail, since }: Call,
    error: NonNullable<Reply['error']>,
    models: ModelSession[],
  ): string | undefined {
    const code = error.code === -32000 ? (error.data?.code as string) : String(error.code);
    if (isCrowdedOut(error)) return undefined;
    if (code === 'unknown_id' && error.data.expected === 'a session that is open') {
      const isOpen = models.some((one) => one.opened < since && one.closed === Number.POSITIVE_INFINITY);
      if (isOpen) return 'it was open all the time';
    }
    return mayFail.includes(code) ? undefined : `it may not fail with ${code}`;
  }

  #wrongSeq(model: ModelSession, seq: number): string | undefined {
    if (seq < model.firstSeq || seq > model.seq) return `seq ${seq}, of ${model.seq} that there are`;
    this.#common.books.tell(model.placeOf(seq), `seq ${seq} of ${model.id}`);
    return undefined;
  }

  #wrongSend(model: ModelSession, params: Json, { result, error }: Reply): string | undefined {
    const { events, producer, firstSeq } = params as { events: object[]; producer?: string; firstSeq?: number };
    const got = (result ?? error!.data) as Json & { seq: number; decisions: unknown[] };
    const applied = error === undefined ? events.length : (error.data.index as number);
    const earlier = model.answeredBefore(producer, firstSeq, events.length);
    if (earlier !== undefined) return earlier === JSON.stringify(result ?? error) ? undefined : `it was ${earlier}`;
    const to = got.seq - model.firstSeq;
    if (to - applied < 0 || got.seq > model.seq) return `seq ${got.seq} of ${model.firstSeq} to ${model.seq}`;
    const steps = model.steps.slice(to - applied, to);
    for (const [at, { event, text, origin }] of steps.entries()) {
      if (!isSent(event, text, events[at]!)) return `event ${got.seq - applied + at} was ${text}`;
      const by = typeof origin === 'object' ? origin.producer : undefined;
      if (by !== producer) return `event ${got.seq - applied + at} came from ${by}`;
    }
    if (error !== undefined && !model.refusals.has(`${got.seq} ${error.data.code}`))
      return `nothing was refused with ${error.data.code} after ${got.seq} events`;
    if (producer !== undefined && firstSeq !== undefined && got.nextSeq !== firstSeq + applied)
      return `nextSeq must be ${firstSeq + applied}`;
    const wrong = this.#wrongDecisions(
      model,
      steps.flatMap((one) => one.decisions),
      got,
    );
    if (wrong !== undefined) return wrong;
    this.#common.books.tell(model.placeOf(got.seq), `seq ${got.seq} of ${model.id}`);
    if (producer === undefined || applied === 0) return undefined;
    const key = JSON.stringify([model.id, model.opened, producer, firstSeq, events.length]);
    const [before, now] = [this.#common.told.get(key), JSON.stringify(result ?? error)];
    this.#common.told.set(key, now);
    return before === undefined || before === now ? undefined : `it was answered before by ${before}`;
  }

  #wrongDecisions(
    model: ModelSession,
    all: readonly string[],
    { seq, decisions, more, decisionSeq }: Json & { seq: number; decisions: unknown[] },
  ): string | undefined {
    const { pageDecisions } = this.#common;
    const isStream = model.start.deliver === 'stream';
    const expected = isStream ? [] : all.slice(0, pageDecisions);
    if (decisions.map((one) => JSON.stringify(one)).join() !== expected.join()) return `the decisions are ${expected}`;
    if (isStream) {
      const last = model.decisionSeqAt(seq);
      return decisionSeq === last ? undefined : `decisionSeq must be ${last}`;
    }
    if ((more !== undefined) !== all.length > pageDecisions) return `there are ${all.length} decisions`;
    if (more !== undefined) this.#common.pages.set(pageOf(model, more as string), all);
    return undefined;
  }

  #wrongPage(model: ModelSession, name: string, { decisions, more }: Json): string | undefined {
    const { pages, pageDecisions } = this.#common;
    const from = Number(name.slice(name.indexOf('-') + 1));
    const all = pages.get(pageOf(model, name));
    const got = (decisions as unknown[]).map((one) => JSON.stringify(one)).join();
    // Nobody was told that answer: the call has met a session that was put in the place of the one that it meant.
    if (all === undefined) return this.#hasDecided(model, got) ? undefined : 'it has not decided so';
    const expected = all.slice(from, from + pageDecisions).join();
    if (got !== expected) return `the page is ${expected}`;
    return (more !== undefined) === all.length > from + pageDecisions ? undefined : `there are ${all.length} decisions`;
  }

  /** Whether a session has decided this, also before it was opened from a snapshot. */
  #hasDecided({ decisions, start }: ModelSession, text: string): boolean {
    return decisions.join().includes(text) || JSON.stringify([start.answers, start.producers]).includes(text);
  }

  #wrongSnapshot(model: ModelSession, { snapshot, seq, decisionSeq }: Json): string | undefined {
    const wrong = this.#wrongSeq(model, seq as number);
    if (wrong !== undefined) return wrong;
    const expected = JSON.stringify(model.snapshotAt(seq as number));
    if (expected !== JSON.stringify(snapshot)) return `the snapshot is ${expected}`;
    const last = model.start.deliver === 'stream' ? model.decisionSeqAt(seq as number) : undefined;
    return decisionSeq === last ? undefined : `decisionSeq must be ${last}`;
  }

  #wrongWhy(model: ModelSession, { owed, more, seq }: Json): string | undefined {
    const wrong = this.#wrongSeq(model, seq as number);
    if (wrong !== undefined) return wrong;
    // Times that only the server knows decide the order, and so which are listed.
    const said = ({ owed: all, more: others }: { owed: readonly { event: object }[]; more: number }) =>
      JSON.stringify(others > 0 ? all.length + others : all.map(({ event }) => JSON.stringify(event)).sort());
    const expected = said(model.whyAt(seq as number));
    return said({ owed, more } as never) === expected ? undefined : `what is owed is ${expected}`;
  }

  #wrongList({ sessions }: { sessions: { session: string; seq: number }[] }, since: number): string | undefined {
    const { books } = this.#common;
    const ids = sessions.map(({ session }) => session);
    if (ids.join() !== [...ids].sort().join()) return 'they are not in order';
    const missing = books.sessions.find(
      ({ id, opened, closed }) => opened < since && closed === Number.POSITIVE_INFINITY && !ids.includes(id),
    );
    if (missing !== undefined) return `${missing.id} is missing`;
    for (const { session, seq } of sessions) {
      const wrong = this.#oneOf(books.since(session, since), (one) => this.#wrongSeq(one, seq));
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  #subscribedTo(models: readonly ModelSession[], params: Json, result: Json): string | undefined {
    const { session, after, types } = params as { session: string; after?: number; types?: string[] };
    const { decisionSeq, acknowledged } = result as { decisionSeq: number; acknowledged: number };
    const fitting = models.filter((one) => decisionSeq <= one.decisionSeq && acknowledged <= decisionSeq);
    const [one] = fitting;
    if (one === undefined) return 'no session has, or had, such a stream';
    if (fitting.length === 1) {
      this.#common.books.tellAcknowledged(one, acknowledged);
      const step = one.steps.find((step) => step.decisionSeq >= decisionSeq);
      if (step !== undefined && decisionSeq > one.firstDecision)
        this.#common.books.tell(step.place, `decision ${decisionSeq} of ${one.id}`);
    }
    this.#subscribed.set(session, { models: fitting, next: (after ?? acknowledged) + 1, types });
    return undefined;
  }

  #notified(method: string, params: Json): void {
    const { session, decisionSeq, decision } = params as { session: string; decisionSeq: number; decision: Json };
    const { books } = this.#common;
    const subscribed = this.#subscribed.get(session);
    if (method === 'session.closed') return void this.#subscribed.delete(session);
    if (subscribed === undefined) return books.broken(7, `${this.#name} gets decisions of ${session} unasked`);
    const { next, types } = subscribed;
    const text = JSON.stringify(decision);
    const isSkipped = (model: ModelSession): boolean => {
      for (let at = next; at < decisionSeq; at += 1) {
        const other = model.decision(at);
        if (other === undefined || types === undefined || types.includes(JSON.parse(other).type)) return false;
      }
      return true;
    };
    const fitting = subscribed.models.filter((one) => one.decision(decisionSeq) === text && isSkipped(one));
    if (decisionSeq < next || fitting.length === 0) {
      const expected = subscribed.models.map((one) => `${next}: ${one.decision(next)}`);
      return books.broken(7, `${this.#name}, ${session}: got ${decisionSeq}: ${text}, expected ${expected}`);
    }
    subscribed.models = fitting;
    subscribed.next = decisionSeq + 1;
    const [one] = fitting;
    const step = one!.steps.find((each) => each.decisionSeq >= decisionSeq);
    if (fitting.length === 1 && decisionSeq > one!.firstDecision)
      books.tell(step!.place, `decision ${decisionSeq} of ${one!.id}`);
  }
}
