/** Handles retries: stores how many events each producer of a session has sent, and its last answers. */

import { Fifo } from '../../core/collections/fifo.ts';
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import { type PolicyErrorCode, refuse } from '../../errors.ts';
import { RpcError } from '../methods/errors.ts';
import { exceeded } from '../methods/refusals.ts';

/** The result or error of a call, to answer its retry. */
export type Answer = ({ readonly result: object } | { readonly error: RpcError }) & {
  /** All decisions of the answer, if they take more than one page, and the name of the second page. */
  readonly pages?: { readonly more: string; readonly decisions: readonly AnyDecision[] };
};

interface AnswerTo<A> {
  readonly firstSeq: number;
  /** Number of events in the call, including refused ones. */
  readonly events: number;
  readonly answer: A;
}
type StoredAnswer = AnswerTo<Answer> & {
  /**
   * The applied events, or their digest if they were applied before a snapshot; absent if an earlier version made that snapshot.
   */
  readonly applied: readonly AnyEvent[] | number | undefined;
};

/** Returns a hash of all characters, 32 bits. */
function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

/** A digest of events without their times, because the server sets missing times. */
const digestOf = (events: readonly unknown[]): number =>
  hashOf(JSON.stringify(events, (key, value) => (key === 'at' ? undefined : value)));

/** Whether a call has the events to which an answer was given; of a refused call, those before the refusal. */
function isAnswerTo({ applied, answer }: StoredAnswer, firstSeq: number, events: readonly unknown[]): boolean {
  if (applied === undefined) return true;
  const { nextSeq } =
    'error' in answer ? (answer.error.data as { nextSeq?: number }) : (answer.result as { nextSeq?: number });
  const sent = digestOf(events.slice(0, nextSeq! - firstSeq));
  return sent === (typeof applied === 'number' ? applied : digestOf(applied));
}

/** An answer in its stored form. */
type SavedAnswer = Pick<Answer, 'pages'> &
  ({ readonly result: object } | { readonly error: Pick<RpcError, 'code' | 'message' | 'data'> });

/** A producer in its stored form. */
export interface SavedProducer {
  readonly name: string;
  readonly nextSeq: number;
  readonly kept: readonly (AnswerTo<SavedAnswer> & {
    /** Digest of the applied events. */
    readonly digest?: number;
  })[];
}

interface Producer {
  /** Number of events applied so far. */
  nextSeq: number;
  readonly answers: Fifo<StoredAnswer>;
}

/** The producers of one session. */
export class Producers {
  readonly #most: number;
  readonly #keptAnswers: number;
  readonly #producers = new Map<string, Producer>();

  constructor(
    limits: { readonly maxProducers: number; readonly keptAnswers: number },
    saved: readonly SavedProducer[] = [],
  ) {
    this.#most = limits.maxProducers;
    this.#keptAnswers = limits.keptAnswers;
    for (const { name, nextSeq, kept } of saved) {
      const producer: Producer = { nextSeq, answers: new Fifo() };
      for (const { digest, ...one } of kept)
        producer.answers.push({ ...one, applied: digest, answer: loaded(one.answer) });
      this.#producers.set(name, producer);
    }
  }

  /** Returns the producers, in the order of their first calls. */
  save(): SavedProducer[] {
    return [...this.#producers].map(([name, { nextSeq, answers }]) => ({
      name,
      nextSeq,
      kept: [...answers].map(({ applied, answer, ...one }) => ({
        ...one,
        answer: saved(answer),
        ...(applied === undefined ? {} : { digest: typeof applied === 'number' ? applied : digestOf(applied) }),
      })),
    }));
  }

  /**
   * Returns the answer of a call that was applied before, or nothing for a new call.
   *
   * @throws PolicyError `out_of_order` for a call that skips events, is too old, or has other events than the earlier call;
   * `limit_exceeded` for too many producers
   */
  earlier(name: string, firstSeq: number | undefined, events: readonly unknown[]): Answer | undefined {
    const producer = this.#producers.get(name);
    if (producer === undefined && this.#producers.size >= this.#most) {
      exceeded('maxProducers', 'producer', `at most ${this.#most} producers of a session`, name);
    }
    const nextSeq = producer?.nextSeq ?? 0;
    if (firstSeq === undefined || firstSeq === nextSeq) return undefined;
    if (producer !== undefined && firstSeq < nextSeq) {
      for (const one of producer.answers) {
        const isSame = one.firstSeq === firstSeq && one.events === events.length && isAnswerTo(one, firstSeq, events);
        if (isSame) return one.answer;
      }
    }
    const expected = `${nextSeq}, or a call as it was sent, one of the last ${this.#keptAnswers} of this producer`;
    refuse('out_of_order', 'firstSeq', expected, firstSeq);
  }

  /** Returns the next sequence number of a producer, if the given number of further events is applied. */
  nextSeq(name: string, applied = 0): number {
    return (this.#producers.get(name)?.nextSeq ?? 0) + applied;
  }

  /** Stores the answer of a call, unless none of its events was applied: such a call may be tried again. */
  keep(name: string, applied: readonly AnyEvent[], events: number, answer: Answer): void {
    if (applied.length === 0) return;
    let producer = this.#producers.get(name);
    if (producer === undefined) this.#producers.set(name, (producer = { nextSeq: 0, answers: new Fifo() }));
    producer.answers.push({ firstSeq: producer.nextSeq, events, applied, answer });
    if (producer.answers.size > this.#keptAnswers) producer.answers.shift();
    producer.nextSeq += applied.length;
  }
}

function saved(answer: Answer): SavedAnswer {
  if (!('error' in answer)) return answer;
  const { code, message, data } = answer.error;
  return { ...answer, error: { code, message, data } };
}

function loaded(answer: SavedAnswer): Answer {
  if (!('error' in answer)) return answer;
  const { code, message, data } = answer.error;
  return { ...answer, error: new RpcError(code, { ...data, code: data.code as PolicyErrorCode, message }, data) };
}
