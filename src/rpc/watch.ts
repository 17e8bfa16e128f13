/** Watches over the sessions of a server: a watchdog for each follows its events and decisions, by the clock of the server. */
import type { AnyDecision, AnyEvent } from '../core/definition.ts';
import type { LooseEvent } from '../core/start.ts';
import { parse } from '../core/validate.ts';
import type { PolicyError } from '../errors.ts';
import {
  type WatchdogConfig,
  type WatchdogDecision,
  type WatchdogInput,
  watchdog,
} from '../policies/watchdog/index.ts';
import type { Message } from '../schemas/messages.ts';
import type { Clock } from './clock.ts';
import type { DecisionLog, LoggedSession, SessionDecisionLog } from './log/decision-log.ts';

/** Options of the watchdogs of a server. */
export interface WatchOptions {
  /** Settings of every watchdog. */
  readonly config?: WatchdogInput;
  /** Called when an answer is overdue, with the id of the session. It must not throw. */
  readonly owes?: (session: string, notice: Message<'host.owes'>) => void;
}

/** Answers that are owed to the sessions of a server, by the type of the event. */
export interface OwedAnswers {
  /** Type of the event that is awaited. */
  readonly event: string;
  /** How many are awaited. */
  readonly owed: number;
  /** How many of these are overdue, or owed by an engine, a worker or a host that is silent. */
  readonly overdue: number;
}

const taken: ReadonlySet<string> = new Set(watchdog.events.map(({ type }) => type));

/** The watchdogs of a server. They hear what its decision log hears. */
export class Watch implements DecisionLog {
  readonly #config: WatchdogConfig;
  readonly #owes: NonNullable<WatchOptions['owes']>;
  readonly #clock: Clock;
  readonly #inner: DecisionLog;
  readonly #dogs = new Set<SessionWatch>();

  /**
   * @param inner - the log that hears the same
   * @throws PolicyError `invalid_config`
   */
  constructor({ config = {}, owes = () => undefined }: WatchOptions, clock: Clock, inner: DecisionLog) {
    this.#config = parse(watchdog.config, config, 'invalid_config', 'watch.config');
    this.#owes = owes;
    this.#clock = clock;
    this.#inner = inner;
  }

  of(session: LoggedSession): SessionDecisionLog {
    const log = this.#inner.of(session);
    // What a policy in shadow mode decides is not carried out, and not answered.
    if (session.shadow) return log;
    const host = {
      clock: this.#clock,
      owes: (notice: Message<'host.owes'>) => {
        log.owes?.(notice);
        this.#owes(session.id, notice);
      },
      left: () => void this.#dogs.delete(dog),
    };
    const dog = new SessionWatch(log, this.#config, host);
    this.#dogs.add(dog);
    return dog;
  }

  /** Counts what is owed to all sessions. */
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
  readonly owes: (notice: Message<'host.owes'>) => void;
  readonly left: () => void;
}

/** The watchdog of one session. Its events were checked by the session, so the definition is used without a facade. */
class SessionWatch implements SessionDecisionLog {
  readonly #log: SessionDecisionLog;
  readonly #host: SessionWatchHost;
  readonly #state: ReturnType<typeof watchdog.init>;
  readonly #context: { at: number; emit(decision: WatchdogDecision): void };
  #cancel: () => void = () => undefined;

  constructor(log: SessionDecisionLog, config: WatchdogConfig, host: SessionWatchHost) {
    this.#log = log;
    this.#host = host;
    this.#state = watchdog.init(config);
    this.#context = { at: host.clock.now(), emit: (decision) => this.#decided(decision) };
  }

  counts() {
    const { causes, isHostNamed } = this.#state.owed;
    return causes.counts(isHostNamed);
  }

  before(): void {
    this.#log.before();
  }

  applied(event: LooseEvent, decisions: readonly AnyDecision[], producer: string | undefined): void {
    this.#log.applied(event, decisions, producer);
    const now = this.#now();
    if (taken.has(event.type)) this.#apply(event);
    for (const one of decisions) {
      if (!taken.has(one.type)) continue;
      const { fireAtSeconds } = one as AnyDecision & { readonly fireAtSeconds?: number };
      // The clock of the host may be another one, and may stand still while the host hangs.
      this.#apply(
        fireAtSeconds === undefined ? one : ({ ...one, fireAtSeconds: now + fireAtSeconds - one.at } as AnyEvent),
      );
    }
  }

  decided(at: number, decision: { readonly type: string }, producer: string | undefined): void {
    this.#log.decided(at, decision, producer);
  }

  refused(error: PolicyError, producer: string | undefined): void {
    this.#log.refused(error, producer);
  }

  closed(reason: 'closed' | 'replaced' | 'stopped'): void {
    this.#cancel();
    this.#host.left();
    this.#log.closed(reason);
  }

  #now(): number {
    return (this.#context.at = Math.max(this.#context.at, this.#host.clock.now()));
  }

  #apply(message: AnyEvent): void {
    watchdog.apply(this.#state, message as never, this.#context);
  }

  #decided(decision: WatchdogDecision): void {
    if (decision.type === 'host.owes') return this.#host.owes(decision);
    const { timerId, fireAtSeconds } = decision;
    this.#cancel();
    this.#cancel = this.#host.clock.after(Math.max(0, fireAtSeconds - this.#context.at), () => {
      const at = this.#now();
      this.#apply({ type: 'timer.fired', at, timerId } as AnyEvent);
    });
  }
}
