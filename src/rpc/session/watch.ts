/** Watches over the sessions of a server: a watchdog for each follows its events and decisions, and knows the times for `session.why`. */

import type { Clock } from '../../core/machine/clock.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { parse } from '../../core/machine/validate.ts';
import { obligations, rulesOf } from '../../core/why/obligations.ts';
import { type Watch as Times, watch } from '../../core/why/watch.ts';
import {
  type WatchdogConfig,
  type WatchdogDecision,
  type WatchdogInput,
  type WatchdogNotice,
  watchdog,
} from '../../policies/watchdog/index.ts';
import { nothingOwed, Owed, type WatchdogState } from '../../policies/watchdog/state.ts';
import type { Message } from '../../schemas/messages.ts';
import type { SessionPolicy } from './applying.ts';

/** Options of the watchdogs of a server. */
export interface WatchOptions {
  /** Settings of every watchdog. */
  readonly config?: WatchdogInput;
  /** Called with the session id when an answer is overdue. The function must not throw. */
  readonly owes?: (session: string, notice: Message<'host.owes'>) => void;
  /** Called with the session id when work goes on without gain. The function must not throw. */
  readonly stalled?: (session: string, notice: Message<'round.stalled'>) => void;
}

/** Answers that are owed to the sessions of a server, by the type of the event. */
export interface OwedAnswers {
  /** Type of the event that is awaited. */
  readonly event: string;
  /** Number of awaited answers. */
  readonly owed: number;
  /** Number of these that are overdue, or owed by a silent engine, worker or host. */
  readonly overdue: number;
}

const taken: ReadonlySet<string> = new Set(watchdog.events.map(({ type }) => type));

/** Types of messages that tell a watchdog something about a policy: of commands, only those whose answers the policy takes. */
function telling(definition: AnyPolicyDefinition): ReadonlySet<string> {
  const answered = new Set(rulesOf(definition).map(({ type }) => type));
  const asksNothing = (type: string): boolean => obligations.get(type)?.isReport ?? !obligations.has(type);
  return new Set([...taken].filter((type) => answered.has(type) || asksNothing(type)));
}

/** A watched session. */
export interface WatchedSession {
  readonly id: string;
  readonly shadow: boolean;
  readonly policy: SessionPolicy;
}

/** Times of a followed session. */
export interface SessionTimes extends Times {
  /** The host's time, continued since its last event, in seconds: a hanging host sends none. */
  now?(): number;
}

/** The watchdogs of a server. */
export class Watch {
  readonly #config: WatchdogConfig;
  readonly #owes: NonNullable<WatchOptions['owes']>;
  readonly #stalled: NonNullable<WatchOptions['stalled']>;
  readonly #clock: Clock;
  readonly #dogs = new Set<SessionWatch>();

  /** @throws PolicyError `invalid_config` */
  constructor({ config = {}, owes = () => undefined, stalled = () => undefined }: WatchOptions, clock: Clock) {
    this.#config = parse(watchdog.config, config, 'invalid_config', 'watch.config');
    this.#owes = owes;
    this.#stalled = stalled;
    this.#clock = clock;
  }

  /** Follows a session. `says` receives the notices of its watchdog before the server's options do. */
  of({ id, shadow, policy }: WatchedSession, says: (notice: WatchdogNotice) => void): SessionTimes {
    // Decisions of a policy in shadow mode are not carried out, and not answered.
    if (shadow) return watch(policy);
    const said = (notice: WatchdogNotice): void => {
      says(notice);
      if (notice.type === 'host.owes') this.#owes(id, notice);
      else this.#stalled(id, notice);
    };
    const dog: SessionWatch = new SessionWatch(policy, this.#config, {
      clock: this.#clock,
      says: said,
      left: () => void this.#dogs.delete(dog),
    });
    this.#dogs.add(dog);
    return dog.times;
  }

  /** Counts the answers owed to all sessions. */
  get owed(): OwedAnswers[] {
    const sums = new Map<string, { owed: number; overdue: number }>();
    for (const dog of this.#dogs) {
      for (const [event, { owed, overdue }] of dog.counts()) {
        const sum = sums.get(event) ?? { owed: 0, overdue: 0 };
        sums.set(event, { owed: sum.owed + owed, overdue: sum.overdue + overdue });
      }
    }
    return [...sums].map(([event, sum]) => ({ event, ...sum }));
  }
}

interface SessionWatchHost {
  readonly clock: Clock;
  readonly says: (notice: WatchdogNotice) => void;
  readonly left: () => void;
}

/**
 * The watchdog of one session. The session has checked its events, so the definition is used without a facade. Times are those of
 * the host, continued by the server's clock while nothing comes.
 */
class SessionWatch {
  readonly times: SessionTimes;
  readonly #host: SessionWatchHost;
  readonly #policy: SessionPolicy;
  readonly #state: WatchdogState;
  readonly #context: { at: number; emit(decision: WatchdogDecision): void };
  readonly #telling: ReadonlySet<string>;
  /** Time of the latest message, by the server's clock. */
  #heardAt: number;
  #cancel: () => void = () => undefined;

  constructor(policy: SessionPolicy, config: WatchdogConfig, host: SessionWatchHost) {
    const { definition } = policy;
    this.#host = host;
    this.#policy = policy;
    const owed = new Owed(nothingOwed, definition);
    owed.config = config;
    this.#state = { config, owed, armedAt: null, isTimerGone: false };
    this.#context = { at: policy.at, emit: (decision) => this.#decided(decision) };
    this.#telling = telling(definition);
    this.#heardAt = host.clock.now();
    const stop = policy.observe((event, decisions) => this.#applied(event, decisions));
    const { commands } = owed;
    this.times = {
      answeredBy: (event) => commands.answeredBy(event),
      usual: (type) => commands.usual(type),
      usuallyFiltered: () => commands.usuallyFiltered(),
      now: () => this.#now(),
      stop: () => {
        stop();
        this.#cancel();
        host.left();
      },
    };
  }

  counts() {
    const { causes, isHostNamed } = this.#state.owed;
    return causes.counts(isHostNamed);
  }

  #now(): number {
    return this.#policy.at + Math.max(0, this.#host.clock.now() - this.#heardAt);
  }

  #applied(event: AnyEvent, decisions: readonly AnyDecision[]): void {
    this.#heardAt = this.#host.clock.now();
    this.#context.at = this.#policy.at;
    this.#apply(event);
    for (const one of decisions) this.#apply(one);
  }

  #apply(message: AnyEvent): void {
    if (this.#telling.has(message.type)) watchdog.apply(this.#state, message as never, this.#context);
  }

  #decided(decision: WatchdogDecision): void {
    if (decision.type !== 'timer.set') return this.#host.says(decision);
    const { timerId, fireAtSeconds } = decision;
    this.#cancel();
    this.#cancel = this.#host.clock.after(Math.max(0, fireAtSeconds - this.#context.at), () => {
      const at = (this.#context.at = Math.max(fireAtSeconds, this.#now()));
      this.#apply({ type: 'timer.fired', at, timerId } as AnyEvent);
    });
  }
}
