/** Delivers the decisions of a session: in answers (with pages, and again for retries), or in a stream. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { SavedSession, SentEntry } from '../journal/entries.ts';
import { errorCodes, RpcError } from '../methods/errors.ts';
import type { ServerLimits } from '../methods/limits.ts';
import type { ParamsOf, ResultOf } from '../methods/methods.ts';
import { PagedAnswers } from './answers.ts';
import { type Answer, Producers } from './producers.ts';
import { DecisionStream } from './stream.ts';

type SendParams = Omit<ParamsOf<'session.send'>, 'session'>;
type SendResult = ResultOf<'session.send'>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Saved state of a session, without the state of its policy. */
export type SavedDelivery = Pick<SavedSession, 'producers' | 'answers' | 'stream'>;

/** Options and callbacks of a session's delivery. */
export interface DeliveryOptions {
  readonly deliver: 'reply' | 'stream';
  readonly limits: ServerLimits;
  /** Called with the number up to which streamed decisions are acknowledged. */
  readonly forgot: (decisionSeq: number) => void;
  readonly saved?: SavedDelivery | undefined;
}

/** The answers and the stream of one session. */
export class Delivery {
  readonly stream: DecisionStream | undefined;
  readonly #producers: Producers;
  readonly #answers: PagedAnswers;

  constructor({ deliver, limits, forgot, saved }: DeliveryOptions) {
    this.#producers = new Producers(limits, saved?.producers);
    this.#answers = new PagedAnswers(limits, saved?.answers);
    if (deliver === 'stream') this.stream = new DecisionStream(limits, forgot, saved?.stream);
  }

  /**
   * Returns the result of a call that was applied before; `undefined` for a new call, if there is room for its decisions.
   *
   * @throws RpcError if the earlier call threw it; PolicyError `invalid_input`, `out_of_order`, `limit_exceeded`
   */
  earlier({ events, producer, firstSeq }: SendParams): SendResult | undefined {
    if (producer !== undefined) {
      const answer = this.#producers.earlier(producer, firstSeq, events);
      if (answer !== undefined) return this.resultOf(answer);
    } else if (firstSeq !== undefined) refuse('invalid_input', 'producer', 'the producer', undefined);
    this.stream?.assertRoom();
    return undefined;
  }

  /** Delivers the decisions of a call, and stores its answer for a retry. */
  answer({ events, of, producer, refused }: SentEntry, decisions: readonly AnyDecision[], seq: number): Answer {
    const applied = events.length;
    const done: Writable<SendResult> = { seq } as SendResult;
    if (producer !== undefined) done.nextSeq = this.#producers.nextSeq(producer, applied);
    this.#deliver(decisions, done);
    const answer: Writable<Answer> =
      refused === undefined
        ? { result: done }
        : { error: new RpcError(errorCodes.refused, refused, { index: applied, ...done }) };
    if (done.more !== undefined) answer.pages = { more: done.more, decisions };
    if (producer !== undefined) this.#producers.keep(producer, events, of, answer);
    return answer;
  }

  /** Returns the result for a caller. Throws where the answer is an error. */
  resultOf(answer: Answer): SendResult {
    if (answer.pages !== undefined) this.#answers.keep(answer.pages.more, answer.pages.decisions);
    if ('error' in answer) throw answer.error;
    return answer.result as SendResult;
  }

  /** Continues the names of long answers from an earlier session with the same id. */
  follow(earlier: Delivery): void {
    this.#answers.follow(earlier.#answers);
  }

  /** Returns a page of a long answer. Throws `unknown_id`. */
  more(more: string): ResultOf<'session.more'> {
    return this.#answers.next(more) as ResultOf<'session.more'>;
  }

  save(): SavedDelivery {
    return {
      producers: this.#producers.save(),
      answers: this.#answers.save(),
      ...(this.stream === undefined ? {} : { stream: this.stream.save() }),
    };
  }

  #deliver(decisions: readonly AnyDecision[], into: Writable<SendResult>): void {
    if (this.stream === undefined) {
      const page = this.#answers.first(decisions);
      into.decisions = page.decisions as AnyDecision[];
      if (page.more !== undefined) into.more = page.more;
      return;
    }
    this.stream.push(decisions);
    into.decisions = [];
    into.decisionSeq = this.stream.last;
  }
}
