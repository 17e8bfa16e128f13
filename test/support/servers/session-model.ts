/** What a session of the server does, one call after the other: the policy in process, and the rule of retries. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { create } from '../../../src/core/machine/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { registry } from '../../../src/index.ts';
import type { Operation, Specification } from './linearizability.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was said on the wire
type Json = any;

/** A call of a session and its answer; neither result nor error if the answer was lost. */
export interface SessionCall extends Operation {
  /** A method of the server for one session, an entry of `session.list`, or `seen`: a streamed decision has come. */
  readonly method: string;
  readonly params: Json;
  readonly result?: Json;
  readonly error?: Json;
  /** Whether the answer is only a part of what the server has said, as a client gives it. */
  readonly isPart?: boolean;
}

interface Running {
  send(event: unknown): unknown[];
  snapshot(): { readonly seq: number };
  readonly seq: number;
}

interface Kept {
  readonly firstSeq: number;
  readonly events: readonly unknown[];
  /** How many of these were applied. */
  readonly applied: number;
  readonly answer: Json;
}
interface Producer {
  readonly nextSeq: number;
  readonly kept: readonly Kept[];
  /** Of all its calls. */
  readonly digest: string;
}

/** A session between two calls. */
interface Open {
  readonly policy: string;
  readonly deliver: 'reply' | 'stream';
  readonly seq: number;
  /** Its snapshot, as JSON. */
  readonly text: string;
  readonly producers: Readonly<Record<string, Producer>>;
  /** Number of the last streamed decision. */
  readonly last: number;
  /** Digest of all of this. */
  readonly key: string;
}
export type SessionState = Open | 'none';
/** The state after a call, its answer, and what it streams. */
type Step = readonly [state: SessionState, answer: Json, streamed?: readonly unknown[]];

const keptAnswers = 8;
const nobody: Producer = { nextSeq: 0, kept: [], digest: '' };
const refused = (code: string) => ({ error: { data: { code } } });
const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const digestOf = (...parts: unknown[]): string => createHash('sha1').update(JSON.stringify(parts)).digest('base64');

export class SessionModel implements Specification<SessionState, SessionCall> {
  readonly begin: SessionState = 'none';
  /** Streamed decisions by their numbers, as they were seen. */
  readonly #seen: ReadonlyMap<number, unknown>;
  readonly #sendsAgain: boolean;
  readonly #end: number;
  /** The policy of the state that was made last: to restore it from its snapshot takes longer. */
  readonly #running = new WeakMap<Open, Running>();

  /**
   * @param sendsAgain - whether calls were sent again by hand: otherwise nobody sees the answers that are kept for that
   * @param end - when somebody first called to close or replace the session
   */
  constructor(
    seen: ReadonlyMap<number, unknown>,
    { sendsAgain, end }: { readonly sendsAgain: boolean; readonly end: number },
  ) {
    this.#seen = seen;
    this.#sendsAgain = sendsAgain;
    this.#end = end;
  }

  key(state: SessionState): string {
    return typeof state === 'object' ? state.key : 'none';
  }

  step(state: SessionState, call: SessionCall): SessionState | undefined {
    // What the answer says of the number of events is looked at first, since it is cheap.
    if (typeof state === 'object' && !mayFollow(state, call)) return undefined;
    const [next, answer, streamed = []] = this.answer(state, call);
    if (streamed.length > 0 && !this.#wasSeen(state as Open, streamed)) return undefined;
    return call.isLost || agrees(call, answer) ? next : undefined;
  }

  isTooLate(state: SessionState, { method, params, to, result, error }: SessionCall): boolean {
    // Events are only added, unless a session begins anew.
    if (typeof state !== 'object' || to > this.#end) return false;
    if (method === 'session.subscribe') return result !== undefined && result.decisionSeq < state.last;
    const seq = seqOf(result ?? error?.data);
    if (seq === undefined) return false;
    if (method !== 'session.send') return seq < state.seq;
    const { producer, firstSeq, events } = params;
    const { nextSeq, kept } = state.producers[producer] ?? nobody;
    if (firstSeq === undefined || firstSeq >= nextSeq) return seq - (error?.data.index ?? events.length) < state.seq;
    // It was applied, or another call with this number: the answer of that time is the only one.
    const answer = kept.find((one) => one.firstSeq === firstSeq)?.answer;
    return seqOf(answer?.result ?? answer?.error?.data) !== seq;
  }

  answer(state: SessionState, { method, params }: Pick<SessionCall, 'method' | 'params'>): Step {
    if (method === 'session.open') return this.#open(state, params);
    if (typeof state !== 'object') return [state, method === 'listed' ? { result: null } : refused('unknown_id')];
    switch (method) {
      case 'session.send':
        return this.#send(state, params);
      case 'session.close':
        return ['none', { result: {} }];
      case 'session.snapshot': {
        const { seq, text, last, deliver } = state;
        const stream = deliver === 'stream' ? { decisionSeq: last } : {};
        return [state, { result: { snapshot: JSON.parse(text), seq, ...stream } }];
      }
      case 'listed':
        return [state, { result: { seq: state.seq } }];
      case 'session.subscribe':
        return [state, { result: { decisionSeq: state.last } }];
      case 'seen':
        return [state, { result: { isThere: params.decisionSeq <= state.last } }];
      default:
        throw new Error(`the model knows no ${method}`);
    }
  }

  #open(state: SessionState, params: Json): Step {
    const { policy, config, onExisting = 'fail', deliver = 'reply' } = params;
    if (typeof state === 'object' && onExisting === 'fail') return [state, refused('duplicate_id')];
    let open = state;
    if (typeof open !== 'object' || onExisting === 'replace') {
      const running = create(registry.get(policy) as AnyPolicyDefinition, config) as unknown as Running;
      open = this.#made({ policy, deliver, producers: {}, last: 0 }, running);
    }
    const { version } = registry.get(open.policy);
    return [open, { result: { session: params.session, policy: open.policy, version, seq: open.seq } }];
  }

  #send(state: Open, { events, producer, firstSeq }: Json): Step {
    const isStream = state.deliver === 'stream';
    const before = state.producers[producer] ?? nobody;
    const { nextSeq } = before;
    if (firstSeq !== undefined && firstSeq !== nextSeq) {
      const same = before.kept.find((one) => one.firstSeq === firstSeq && isRetryOf(one, events));
      return [state, same?.answer ?? refused('out_of_order')];
    }
    const running = this.#take(state);
    const decisions: unknown[] = [];
    let refusal: Json;
    let applied = 0;
    for (const event of events) {
      try {
        decisions.push(...running.send(event));
      } catch (error) {
        if (!isPolicyError(error)) throw error;
        const { code, path, expected, got } = error.toJSON();
        refusal = { code, path, expected, got, index: applied };
        break;
      }
      applied += 1;
    }
    const last = state.last + (isStream ? decisions.length : 0);
    const done = {
      seq: state.seq + applied,
      ...(producer === undefined ? {} : { nextSeq: nextSeq + applied }),
      ...(isStream ? { decisions: [], decisionSeq: last } : { decisions: asJson(decisions) }),
    };
    const answer = refusal === undefined ? { result: done } : { error: { data: { ...refusal, ...done } } };
    if (applied === 0) {
      this.#running.set(state, running);
      return [state, answer];
    }
    const after = this.#keeps(before, { firstSeq: nextSeq, events, applied, answer });
    const producers = producer === undefined ? state.producers : { ...state.producers, [producer]: after };
    return [this.#made({ ...state, producers, last }, running), answer, isStream ? asJson(decisions) : []];
  }

  #keeps({ nextSeq, kept, digest }: Producer, one: Kept): Producer {
    if (!this.#sendsAgain) return { nextSeq: nextSeq + one.applied, kept, digest };
    return {
      nextSeq: nextSeq + one.applied,
      kept: [...kept, one].slice(-keptAnswers),
      digest: digestOf(digest, one),
    };
  }

  /** Whether new decisions are those that were streamed, as far as they were. */
  #wasSeen({ last }: Open, decisions: readonly unknown[]): boolean {
    return decisions.every((one, at) => {
      const seen = this.#seen.get(last + at + 1);
      return seen === undefined || isDeepStrictEqual(seen, one);
    });
  }

  #take(state: Open): Running {
    const found = this.#running.get(state);
    this.#running.delete(state);
    if (found !== undefined) return found;
    const definition = registry.get(state.policy as never) as AnyPolicyDefinition;
    return create(definition, { snapshot: JSON.parse(state.text) }) as unknown as Running;
  }

  #made(rest: Omit<Open, 'seq' | 'text' | 'key'>, running: Running): Open {
    const text = JSON.stringify(running.snapshot());
    const producers = Object.entries(rest.producers).map(([name, { nextSeq, digest }]) => [name, nextSeq, digest]);
    const key = digestOf(text, rest.last, producers.sort());
    const state = { ...rest, seq: running.seq, text, key };
    this.#running.set(state, running);
    return state;
  }
}

/** Whether a call is one that was carried out: what was applied is the same, apart from its times. */
function isRetryOf({ events, applied }: Kept, sent: readonly Json[]): boolean {
  const untimed = (all: readonly Json[]) => all.slice(0, applied).map((one) => ({ ...one, at: undefined }));
  return events.length === sent.length && isDeepStrictEqual(untimed(events), untimed(sent));
}

/** Events that a session had applied, as an answer says. */
const seqOf = (answer: Json): number | undefined => answer?.seq ?? answer?.snapshot?.seq;

/** Whether a call can have come in this state, as far as its answer counts events; a retry is looked at more closely. */
function mayFollow(state: Open, { method, params, result, error, isLost }: SessionCall): boolean {
  if (method !== 'session.send') return method !== 'session.snapshot' || (seqOf(result) ?? state.seq) === state.seq;
  const { producer, firstSeq, events } = params;
  const nextSeq = state.producers[producer]?.nextSeq ?? 0;
  if (firstSeq !== undefined && firstSeq !== nextSeq) return true;
  const { seq, index = events.length } = isLost ? {} : (result ?? error?.data ?? {});
  return seq === undefined || seq === state.seq + index;
}

/** Whether an answer was given: all of a result or of an event's refusal; of another refusal, its code. */
function agrees({ method, result, error, isPart }: SessionCall, expected: Json): boolean {
  if ((error === undefined) !== (expected.error === undefined)) return false;
  const [got, wanted] = error === undefined ? [result, expected.result] : [error.data, expected.error.data];
  const isWhole = error === undefined ? method !== 'session.subscribe' : wanted.index !== undefined;
  if (isWhole && !isPart) return isDeepStrictEqual(got, wanted);
  return Object.keys(wanted).every((key) => (isPart && !(key in got)) || isDeepStrictEqual(got[key], wanted[key]));
}
