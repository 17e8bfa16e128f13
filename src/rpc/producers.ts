/** Retries: the number of events that each producer of a session has sent, and its last answers. */
import type { AnyDecision } from '../core/definition.ts';
import { Fifo } from '../core/fifo.ts';
import { type PolicyErrorCode, refuse } from '../errors.ts';
import { RpcError } from './errors.ts';

/** An earlier answer, result or error, for a retry of the same call. */
export type Answer = ({ readonly result: object } | { readonly error: RpcError }) & {
  /** All its decisions, if they take more than one page, and the name of the second page. */
  readonly pages?: { readonly more: string; readonly decisions: readonly AnyDecision[] };
};

interface KeptAs<A> {
  readonly firstSeq: number;
  /** Events that the call held, refused ones included. */
  readonly events: number;
  readonly answer: A;
}
type Kept = KeptAs<Answer>;

/** An answer as it is kept on disk. */
type SavedAnswer = Pick<Answer, 'pages'> &
  ({ readonly result: object } | { readonly error: Pick<RpcError, 'code' | 'message' | 'data'> });

/** A producer as it is kept on disk. */
export interface SavedProducer {
  readonly name: string;
  readonly nextSeq: number;
  readonly kept: readonly KeptAs<SavedAnswer>[];
}

interface Producer {
  /** Events applied so far. */
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
   * Returns the answer of a call that was applied before, or nothing for a new one.
   *
   * @throws PolicyError `out_of_order` for one that leaves events out, or that is too old; `limit_exceeded` for one
   *   producer too many
   */
  earlier(name: string, firstSeq: number | undefined, events: number): Answer | undefined {
    const producer = this.#producers.get(name);
    if (producer === undefined && this.#producers.size >= this.#most) {
      refuse('limit_exceeded', 'producer', `at most ${this.#most} producers of a session`, name);
    }
    const nextSeq = producer?.nextSeq ?? 0;
    if (firstSeq === undefined || firstSeq === nextSeq) return undefined;
    if (producer !== undefined && firstSeq < nextSeq) {
      for (const one of producer.kept) if (one.firstSeq === firstSeq && one.events === events) return one.answer;
    }
    const expected = `${nextSeq}, or a call as it was sent, one of the last ${this.#keptAnswers} of this producer`;
    refuse('out_of_order', 'firstSeq', expected, firstSeq);
  }

  /** Returns the sequence number that a producer would have to send next if the given number of its events were applied. */
  nextSeq(name: string, applied = 0): number {
    return (this.#producers.get(name)?.nextSeq ?? 0) + applied;
  }

  /** Keeps the answer of a call, unless none of its events was applied: such a call may be retried. */
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
