/** One session: a policy, who sends to it, where its decisions go, and its timers. */
import type { AnyDecision, AnyPolicyDefinition } from '../core/definition.ts';
import type { Policy } from '../core/policy.ts';
import { type LooseEvent, resumePolicy, startPolicy } from '../core/registry.ts';
import { isPolicyError, PolicyError } from '../errors.ts';
import { PagedAnswers } from './answers.ts';
import type { Clock } from './clock.ts';
import { errorCodes, RpcError } from './errors.ts';
import { InFlight } from './in-flight.ts';
import type { ServerLimits } from './limits.ts';
import type { Meter } from './meter.ts';
import type { ParamsOf, ResultOf } from './methods.ts';
import { type Answer, Producers } from './producers.ts';
import { DecisionStream } from './stream.ts';
import { type ArmedTimer, Timers } from './timers.ts';

/** What a session is opened with. */
export interface SessionStart {
  readonly definition: AnyPolicyDefinition;
  readonly config?: unknown;
  readonly snapshot?: unknown;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  readonly armed?: readonly ArmedTimer[] | undefined;
}

/** What sessions take from their server. */
export interface SessionHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly meter: Meter;
}

type SendParams = Omit<ParamsOf<'session.send'>, 'session'>;
type SendResult = ResultOf<'session.send'>;

const pagesOf = ({ more }: SendResult, decisions: readonly AnyDecision[]): Pick<Answer, 'pages'> =>
  more === undefined ? {} : { pages: { more, decisions } };

/** A running session. */
export class Session {
  readonly id: string;
  readonly policy: Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  readonly #host: SessionHost;
  readonly #inFlight: InFlight;
  readonly #producers: Producers;
  readonly #answers: PagedAnswers;
  readonly #stream: DecisionStream | undefined;
  readonly #timers: Timers | undefined;

  /** Throws `invalid_config`, `snapshot_mismatch`, `limit_exceeded`. */
  constructor(id: string, start: SessionStart, host: SessionHost) {
    this.id = id;
    this.#host = host;
    this.deliver = start.deliver;
    this.timers = start.timers;
    this.policy = (
      start.snapshot === undefined
        ? startPolicy(start.definition, start.config)
        : resumePolicy(start.definition, start.snapshot)
    ) as never;
    const { limits } = host;
    this.#inFlight = new InFlight(start.definition, this.policy.snapshot().state, limits.maxInFlightIds);
    this.#producers = new Producers(limits);
    this.#answers = new PagedAnswers(limits);
    if (start.deliver === 'stream') this.#stream = new DecisionStream(limits);
    if (start.timers === 'server') this.#timers = new Timers(host.clock, (timerId, at) => this.#fired(timerId, at));
    for (const one of start.armed ?? []) this.#timers?.set(one);
  }

  /** Ids in flight. */
  get inFlight(): number {
    return this.#inFlight.held;
  }

  /** Decisions that nobody has acknowledged. */
  get backlog(): number {
    return this.#stream?.size ?? 0;
  }

  /** The streamed decisions. Throws `invalid_input` where answers carry them. */
  get stream(): DecisionStream {
    if (this.#stream !== undefined) return this.#stream;
    throw new PolicyError('invalid_input', {
      expected: 'a session that was opened with deliver: stream',
      got: `${this.id}, whose answers carry its decisions`,
      path: 'session',
    });
  }

  /**
   * Applies events in order, or gives the answer of a call that was applied before.
   *
   * @throws RpcError with `index` and the decisions of the earlier events, where one is refused
   * @throws PolicyError where the call is refused as a whole
   */
  send({ events, producer, firstSeq }: SendParams): SendResult {
    const { maxEventsPerCall } = this.#host.limits;
    if (events.length > maxEventsPerCall) {
      const expected = `at most ${maxEventsPerCall} events in a call`;
      throw new PolicyError('limit_exceeded', { expected, got: events.length, path: 'events' });
    }
    if (producer === undefined) {
      if (firstSeq === undefined) return this.#resultOf(this.#apply(events).answer);
      throw new PolicyError('invalid_input', { expected: 'the producer', got: undefined, path: 'producer' });
    }
    const earlier = this.#producers.earlier(producer, firstSeq, events.length);
    if (earlier !== undefined) return this.#resultOf(earlier);
    const { answer, applied } = this.#apply(events, producer);
    this.#producers.keep(producer, applied, events.length, answer);
    return this.#resultOf(answer);
  }

  /** A page of a long answer. Throws `unknown_id`. */
  more(more: string): ResultOf<'session.more'> {
    return this.#answers.next(more) as ResultOf<'session.more'>;
  }

  snapshot(): ResultOf<'session.snapshot'> {
    return {
      snapshot: this.policy.snapshot(),
      seq: this.policy.seq,
      ...(this.#timers === undefined ? {} : { armed: this.#timers.armed() }),
      ...(this.#stream === undefined ? {} : { decisionSeq: this.#stream.last }),
    };
  }

  /** Stops the timers; nothing is sent any more. */
  close(): void {
    this.#timers?.close();
  }

  #resultOf(answer: Answer): SendResult {
    if (answer.pages !== undefined) this.#answers.keep(answer.pages.more, answer.pages.decisions);
    if ('error' in answer) throw answer.error;
    return answer.result as SendResult;
  }

  #apply(events: readonly unknown[], producer?: string): { answer: Answer; applied: number } {
    this.#stream?.assertRoom();
    const decisions: AnyDecision[] = [];
    let index = 0;
    try {
      for (; index < events.length; index += 1) {
        for (const one of this.#applyOne(events[index])) decisions.push(one);
      }
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      const done = this.#done(decisions, producer, index);
      const refused = new RpcError(errorCodes.refused, error, { index, ...done });
      return { answer: { error: refused, ...pagesOf(done, decisions) }, applied: index };
    }
    const result = this.#done(decisions, producer, index);
    return { answer: { result, ...pagesOf(result, decisions) }, applied: index };
  }

  #applyOne(value: unknown): readonly AnyDecision[] {
    const event = this.#stamped(value);
    this.#inFlight.check(event);
    const decisions = this.policy.send(event);
    this.#inFlight.count(event, decisions);
    this.#timers?.arm(decisions);
    this.#host.meter.applied(this.policy.id, event, decisions);
    return decisions;
  }

  #stamped(event: unknown): LooseEvent {
    const at = typeof event === 'object' && event !== null && !Array.isArray(event) && !Object.hasOwn(event, 'at');
    return (at ? { ...event, at: this.#host.clock.now() } : event) as LooseEvent;
  }

  /** Puts decisions where they go, and says what the answer says. */
  #done(decisions: readonly AnyDecision[], producer: string | undefined, applied: number): SendResult {
    const { seq } = this.policy;
    const next = producer === undefined ? {} : { nextSeq: this.#producers.nextSeq(producer, applied) };
    if (this.#stream === undefined) return { seq, ...next, ...this.#answers.first(decisions) } as SendResult;
    this.#stream.push(decisions);
    return { seq, ...next, decisions: [], decisionSeq: this.#stream.last };
  }

  #fired(timerId: string, at: number): boolean {
    if (this.#stream?.full) return false;
    try {
      this.#stream?.push(this.#applyOne({ type: 'timer.fired', at, timerId }));
    } catch (error) {
      // What the timer was for is over: a policy may not know it any more.
      this.#host.meter.timerRefused(this.policy.id, error);
    }
    return true;
  }
}
