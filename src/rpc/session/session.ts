/** One session: a policy, the delivery of its decisions, its timers, and the log of its steps. */

import type { Clock } from '../../core/machine/clock.ts';
import type { AnyDecision, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { create, type LooseEvent } from '../../core/machine/start.ts';
import { watch } from '../../core/why/watch.ts';
import { inOneGo, type Why, type WhyAll } from '../../core/why/why.ts';
import { failure, type PolicyError, refuse } from '../../errors.ts';
import type { DecisionLog, SessionDecisionLog } from '../../logs/write/decision-log.ts';
import type { Meter } from '../connection/meter.ts';
import type { Entry, FiredEntry, SavedSession, SessionLog } from '../journal/entries.ts';
import type { ServerLimits } from '../methods/limits.ts';
import type { ParamsOf, ResultOf } from '../methods/methods.ts';
import { exceeded } from '../methods/refusals.ts';
import { Applying, type Sending, type SessionPolicy, stepOf } from './applying.ts';
import { Delivery, type SavedDelivery } from './delivery.ts';
import type { Gate } from './gate.ts';
import type { Total } from './in-flight.ts';
import type { DecisionStream } from './stream.ts';
import { type ArmedTimer, Timers } from './timers.ts';
import type { Turns } from './turns.ts';
import type { SessionTimes, Watch } from './watch.ts';

/** Parameters with which a session is opened. */
export interface SessionStart {
  readonly definition: AnyPolicyDefinition;
  readonly config?: unknown;
  readonly snapshot?: unknown;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  /** Whether the host makes the decisions itself and reports them; the decisions of the policy are only compared with these. */
  readonly shadow?: boolean | undefined;
  readonly armed?: readonly ArmedTimer[] | undefined;
  /** Delivery state of a restored session, whose timers run only after {@link Session.start}. */
  readonly saved?: SavedDelivery;
}

/** Times from here on are taken to be Unix time: that of September 2001. */
const firstUnixTime = 1e9;

async function later(steps: Steps, turns: Turns, answered: (why: Why | WhyAll) => WhyResult): Promise<WhyResult> {
  for (;;) {
    await turns.next();
    const found = advance(steps, turns);
    if (found !== undefined) return answered(found);
  }
}

/** A server from the point of view of its sessions. */
export interface SessionHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly meter: Meter | undefined;
  readonly total: Total;
  /** Called with an error that is a defect. */
  readonly defect: (error: unknown) => void;
  readonly decisionLog: DecisionLog | undefined;
  /**
   * Follows the times of owed answers from the beginning of a session; without it, times are followed from the first question on.
   */
  readonly watch: Watch | undefined;
  /** All actions on a session pass this gate, so that none comes into the middle of a call. */
  readonly gate: Gate;
}

type SendParams = Omit<ParamsOf<'session.send'>, 'session'>;
type SendResult = ResultOf<'session.send'>;
type WhyParams = Omit<ParamsOf<'session.why'>, 'session'>;
type WhyResult = ResultOf<'session.why'>;

/** A call that has paused. */
interface Paused extends Sending {
  /** Number of events that the session had applied before the call. */
  readonly seqBefore: number;
  /** Returns the result or throws; set once the call is over. */
  result?: () => SendResult;
}

/** A running session. */
export class Session {
  readonly id: string;
  readonly policy: SessionPolicy;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  readonly shadow: boolean;
  readonly #host: SessionHost;
  readonly #decisionLog: SessionDecisionLog | undefined;
  readonly #applying: Applying;
  readonly #delivery: Delivery;
  readonly #timers: Timers | undefined;
  /** Absent where the session ends with the process. */
  #log: SessionLog | undefined;
  /** The call that has paused. */
  #paused: Paused | undefined;
  #times: SessionTimes | undefined;

  /** Throws `invalid_config`, `snapshot_mismatch`, `limit_exceeded`. */
  constructor(id: string, start: SessionStart, host: SessionHost) {
    const { definition, deliver, timers, shadow = false, config, snapshot, armed = [], saved } = start;
    const { limits, clock } = host;
    this.id = id;
    this.#host = host;
    this.deliver = deliver;
    this.timers = timers;
    this.shadow = shadow;
    this.policy = (snapshot === undefined ? create(definition, config) : create(definition, { snapshot })) as never;
    const forgot = (decisionSeq: number): void => this.#log?.add({ kind: 'acknowledged', decisionSeq }, []);
    this.#delivery = new Delivery({ deliver, limits, forgot, saved });
    if (timers === 'server')
      this.#timers = new Timers(
        clock,
        (timerId, at) => this.#fired(timerId, at),
        (act) => void host.gate.run(id, act),
      );
    if (saved !== undefined) this.#timers?.hold();
    for (const one of armed) this.#timers?.set(one);
    this.#decisionLog = host.decisionLog?.of(this);
    const decided = (decisions: readonly AnyDecision[]): void => this.#timers?.arm(decisions);
    const log = this.#decisionLog;
    this.#applying = new Applying(definition, this.policy, { shadow, log }, { ...host, decided });
    this.#times = host.watch?.of(this, (notice) => log?.owes?.(notice));
  }

  /** Times of owed answers, if they are followed. */
  get times(): SessionTimes | undefined {
    return this.#times;
  }

  /** Number of ids in flight, plus ids that the policy may mint for them. */
  get promised(): number {
    return this.#applying.promised;
  }

  /** Number of ids in flight. */
  get inFlight(): number {
    return this.#applying.inFlight;
  }

  /** Number of applied events, without events of a paused call. */
  get seq(): number {
    return this.#paused?.seqBefore ?? this.policy.seq;
  }

  /** Whether a call has paused, when the state is not one between two steps. */
  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  /** Number of unacknowledged decisions. */
  get backlog(): number {
    return this.#delivery.stream?.size ?? 0;
  }

  /** The streamed decisions. Throws `invalid_input` if the session delivers decisions in answers. */
  get stream(): DecisionStream {
    if (this.#delivery.stream !== undefined) return this.#delivery.stream;
    return refuse(
      'invalid_input',
      'session',
      'a session that was opened with deliver: stream',
      `${this.id}, whose answers carry its decisions`,
    );
  }

  /**
   * Applies events in order. For a call that was applied before, returns its stored answer.
   *
   * @param turns - if given, the call pauses after each slice of time and returns a promise, and the caller keeps other calls out
   * @throws RpcError if an event is refused, with its `index` and the decisions of the events before it
   * @throws PolicyError if the call is refused as a whole
   */
  send(params: SendParams): SendResult;
  send(params: SendParams, turns: Turns | undefined): SendResult | Promise<SendResult>;
  send(params: SendParams, turns?: Turns): SendResult | Promise<SendResult> {
    const { events, producer } = params;
    const { maxEventsPerCall } = this.#host.limits;
    if (events.length > maxEventsPerCall) {
      exceeded('maxEventsPerCall', 'events', `at most ${maxEventsPerCall} events in a call`, events.length);
    }
    const earlier = this.#delivery.earlier(params);
    if (earlier !== undefined) return earlier;
    const seqBefore = this.policy.seq;
    const sending: Sending = { given: events, producer, applied: [], decisions: [], refused: undefined };
    if (this.#applying.goOn(sending, turns)) return this.#sent(sending);
    this.#paused = { ...sending, seqBefore };
    return this.#goOn(this.#paused, turns!);
  }

  /** Applies the rest of a paused call because the server stops: the call, or its retry, is then answered. */
  finish(): void {
    const paused = this.#paused;
    if (paused === undefined) return;
    this.#applying.goOn(paused);
    this.#settle(paused);
  }

  async #goOn(paused: Paused, turns: Turns): Promise<SendResult> {
    do await turns.next();
    while (paused.result === undefined && !this.#applying.goOn(paused, turns));
    if (paused.result === undefined) this.#settle(paused);
    return paused.result!();
  }

  #settle(paused: Paused): void {
    this.#paused = undefined;
    try {
      const result = this.#sent(paused);
      paused.result = () => result;
    } catch (error) {
      paused.result = () => {
        throw error;
      };
    }
  }

  #sent(sending: Sending): SendResult {
    const step = stepOf(sending);
    if (step.events.length > 0) this.#log?.add(step, sending.decisions);
    return this.#delivery.resultOf(this.#delivery.answer(step, sending.decisions, this.policy.seq));
  }

  /** Continues the names of long answers from an earlier session with the same id. */
  follow(earlier: Session): void {
    this.#delivery.follow(earlier.#delivery);
  }

  /** Returns a page of a long answer. Throws `unknown_id`. */
  more(more: string): ResultOf<'session.more'> {
    return this.#delivery.more(more);
  }

  /** @param delivery - whether to include the state of retries and streams */
  snapshot(delivery = false): ResultOf<'session.snapshot'> {
    const { stream } = this.#delivery;
    return {
      snapshot: this.policy.snapshot(),
      seq: this.policy.seq,
      ...this.#armed(),
      ...(stream === undefined ? {} : { decisionSeq: stream.last }),
      ...(delivery ? { delivery: this.#delivery.save() } : {}),
    };
  }

  /**
   * Says why something waits, without changing anything.
   *
   * @param turns - if given, this method may pause and return a promise, and the caller keeps other calls out
   * @throws PolicyError `unknown_id`, `invalid_input`
   */
  why({ id, what }: WhyParams, turns?: Turns): WhyResult | Promise<WhyResult> {
    if (id === undefined && what !== undefined) refuse('invalid_input', 'what', 'none without an id', what);
    const at = this.now;
    const steps = this.policy.whyInSteps(id, what, { ...this.#times, at });
    this.#times ??= watch(this.policy);
    const answered = (why: Why | WhyAll): WhyResult => ({ ...why, at, seq: this.policy.seq }) as unknown as WhyResult;
    if (turns === undefined) return answered(inOneGo(steps));
    const found = advance(steps, turns);
    return found === undefined ? later(steps, turns, answered) : answered(found);
  }

  /**
   * The present time, since a hanging job sends no events; or the time of the last event if the session has no Unix time and is
   * not watched.
   */
  get now(): number {
    const { at } = this.policy;
    return at < firstUnixTime ? (this.#times?.now?.() ?? at) : Math.max(at, this.#host.clock.now());
  }

  /** Sets the log, into which every step is written before its answer. */
  keepIn(log: SessionLog): void {
    this.#log = log;
  }

  /** Returns the whole session. */
  save(): SavedSession {
    const { id: session, deliver, timers, shadow } = this;
    const snapshot = this.policy.snapshot();
    const saved = { session, deliver, timers, snapshot, ...this.#delivery.save(), ...this.#armed() };
    return shadow ? { ...saved, shadow } : saved;
  }

  /** Returns why this session could not be restored from such a save; `undefined` if it could. */
  misread({ snapshot }: SavedSession): PolicyError | undefined {
    try {
      create(this.policy.definition, { snapshot });
      return undefined;
    } catch (error) {
      return failure('its snapshot to be restored', error);
    }
  }

  /** Replays a step from before a crash, and returns its decisions. */
  replay(entry: Entry): readonly AnyDecision[] {
    if (entry.kind === 'acknowledged') {
      this.stream.forget(entry.decisionSeq);
      return [];
    }
    if (entry.kind === 'sent') {
      const decisions = entry.events.flatMap((event) => this.#applying.again(event));
      this.#delivery.answer(entry, decisions, this.policy.seq);
      return decisions;
    }
    this.#timers?.delete(entry.timerId);
    const decisions = this.#applying.again(firedEvent(entry));
    this.stream.push(decisions);
    return decisions;
  }

  /** Starts the timers of a restored session. */
  start(): void {
    this.#timers?.start();
  }

  /** Undoes the making of a session that was not opened. */
  discard(): void {
    this.#timers?.close();
    this.#times?.stop();
    this.#applying.leave();
  }

  /** Closes the session because the server stops. */
  close(): void {
    this.#timers?.close();
    this.#times?.stop();
    this.#decisionLog?.closed('stopped');
  }

  /** Closes the session for good. */
  end(reason: 'closed' | 'replaced'): void {
    this.discard();
    this.#log?.end();
    this.#decisionLog?.closed(reason);
  }

  #armed(): { armed?: ArmedTimer[] } {
    return this.#timers === undefined ? {} : { armed: this.#timers.armed() };
  }

  #fired(timerId: string, at: number): boolean {
    if (this.stream.full) return false;
    const entry: FiredEntry = { kind: 'fired', timerId, at };
    try {
      const decisions = this.#applying.one(firedEvent(entry));
      this.#log?.add(entry, decisions);
      this.stream.push(decisions);
    } catch (error) {
      // The policy may have forgotten a timer that it does not need any more.
      this.#applying.refused(error);
      this.#host.meter?.timerRefused(this.policy.id, error);
    }
    return true;
  }
}

type Steps = Generator<undefined, Why | WhyAll>;

/** Steps between two looks at the clock. */
const stepsPerLook = 64;

/** Continues until the turn is over; then returns `undefined`. */
function advance(steps: Steps, turns: Turns): Why | WhyAll | undefined {
  do {
    for (let count = 0; count < stepsPerLook; count += 1) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  } while (!turns.isOver);
  return undefined;
}

const firedEvent = ({ timerId, at }: FiredEntry): LooseEvent => ({ type: 'timer.fired', at, timerId });
