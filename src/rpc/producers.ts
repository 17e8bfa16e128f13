/** Handles retries: it stores the number of events that each producer of a session has sent, and its last answers. */
import type { AnyDecision } from '../core/definition.ts';
import { Fifo } from '../core/fifo.ts';
import { type PolicyErrorCode, refuse } from '../errors.ts';
import { RpcError } from './errors.ts';
import { exceeded } from './refusals.ts';

/** The result or error of an earlier call, for a retry of that call. */
export type Answer = ({ readonly result: object } | { readonly error: RpcError }) & {
  /** All decisions of the answer, if they take more than one page, and the name of the second page. */
  readonly pages?: { readonly more: string; readonly decisions: readonly AnyDecision[] };
};

interface KeptAs<A> {
  readonly firstSeq: number;
  /** Events in the call, including refused ones. */
  readonly events: number;
  readonly answer: A;
}
type Kept = KeptAs<Answer>;

/** An answer in its stored form. */
type SavedAnswer = Pick<Answer, 'pages'> &
  ({ readonly result: object } | { readonly error: Pick<RpcError, 'code' | 'message' | 'data'> });

/** A producer in its stored form. */
export interface SavedProducer {
  readonly name: string;
  readonly nextSeq: number;
  readonly kept: readonly KeptAs<SavedAnswer>[];
}

interface Producer {
  /** Number of events applied so far. */
  nextSeq: number;
  readonly kept: Fifo<Kept>;
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
      const producer: Producer = { nextSeq, kept: new Fifo() };
      for (const one of kept) producer.kept.push({ ...one, answer: loaded(one.answer) });
      this.#producers.set(name, producer);
    }
  }

  /** Returns the producers, in the order of their first calls. */
  save(): SavedProducer[] {
    return [...this.#producers].map(([name, { nextSeq, kept }]) => ({
      name,
      nextSeq,
      kept: [...kept].map((one) => ({ ...one, answer: saved(one.answer) })),
    }));
  }

  /**
   * Returns the answer of a call that was applied before, or nothing for a new call.
   *
   * @throws PolicyError `out_of_order` for a call that skips events, or that is too old; `limit_exceeded` for too many producers
   */
  earlier(name: string, firstSeq: number | undefined, events: number): Answer | undefined {
    const producer = this.#producers.get(name);
    if (producer === undefined && this.#producers.size >= this.#most) {
      exceeded('maxProducers', 'producer', `at most ${this.#most} producers of a session`, name);
    }
    const nextSeq = producer?.nextSeq ?? 0;
    if (firstSeq === undefined || firstSeq === nextSeq) return undefined;
    if (producer !== undefined && firstSeq < nextSeq) {
      for (const one of producer.kept) if (one.firstSeq === firstSeq && one.events === events) return one.answer;
    }
    const expected = `${nextSeq}, or a call as it was sent, one of the last ${this.#keptAnswers} of this producer`;
    refuse('out_of_order', 'firstSeq', expected, firstSeq);
  }

  /** Returns the next sequence number of a producer, if the given number of further events is applied. */
  nextSeq(name: string, applied = 0): number {
    return (this.#producers.get(name)?.nextSeq ?? 0) + applied;
  }

  /** Stores the answer of a call, unless none of its events was applied: such a call may be tried again. */
  keep(name: string, applied: number, events: number, answer: Answer): void {
    if (applied === 0) return;
    let producer = this.#producers.get(name);
    if (producer === undefined) this.#producers.set(name, (producer = { nextSeq: 0, kept: new Fifo() }));
    producer.kept.push({ firstSeq: producer.nextSeq, events, answer });
    if (producer.kept.size > this.#keptAnswers) producer.kept.shift();
    producer.nextSeq += applied;
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
