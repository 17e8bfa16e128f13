/** Applies the events of a session: it sets their times, checks bounds, counts them, and writes them into the decision log. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import type { Policy } from '../core/policy.ts';
import type { LooseEvent } from '../core/start.ts';
import { isPolicyError, PolicyError } from '../errors.ts';
import type { Clock } from './clock.ts';
import { digestOf } from './digest.ts';
import { type Entering, InFlight } from './in-flight.ts';
import type { SentEntry } from './journal/entries.ts';
import type { ServerLimits } from './limits.ts';
import type { SessionDecisionLog } from './log/decision-log.ts';
import type { Meter } from './meter.ts';
import { HostDecisions } from './shadow.ts';

/** The type of a policy in a session. */
export type SessionPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;

/** Interface of the session and its server. */
export interface ApplyingHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly meter: Meter;
  /** Called with the decisions of each event, including events that are applied again. */
  readonly decided: (decisions: readonly AnyDecision[]) => void;
}

/** Applies the events of one session. */
export class Applying {
  readonly #policy: SessionPolicy;
  readonly #host: ApplyingHost;
  readonly #log: SessionDecisionLog;
  readonly #inFlight: InFlight;
  readonly #hostDecisions: HostDecisions | undefined;

  /** @param shadow - whether the host makes the decisions itself, and reports them */
  constructor(
    definition: AnyPolicyDefinition,
    policy: SessionPolicy,
    { shadow, log }: { readonly shadow: boolean; readonly log: SessionDecisionLog },
    host: ApplyingHost,
  ) {
    this.#policy = policy;
    this.#host = host;
    this.#log = log;
    if (shadow) this.#hostDecisions = new HostDecisions(definition);
    this.#inFlight = new InFlight(definition, policy.snapshot(), host.limits.maxInFlightIds);
  }

  /** Number of ids in flight. */
  get inFlight(): number {
    return this.#inFlight.held;
  }

  /** Applies the events of a call up to the first refused one. Returns the applied events and their decisions. */
  all(
    events: readonly unknown[],
    producer: string | undefined,
  ): { readonly step: SentEntry; readonly decisions: AnyDecision[] } {
    const applied: LooseEvent[] = [];
    const of = events.length;
    const step: SentEntry = producer
      ? { kind: 'sent', events: applied, of, producer, eventsDigest: digestOf(events) }
      : { kind: 'sent', events: applied, of };
    let decisions: AnyDecision[] = [];
    for (const value of events) {
      const event = this.#stamped(value);
      try {
        const given = this.one(event, producer);
        if (of === 1) decisions = given;
        else for (const one of given) decisions.push(one);
      } catch (error) {
        return { step: { ...step, refused: this.refused(error, producer).toJSON() }, decisions };
      }
      applied.push(event);
    }
    return { step, decisions };
  }

  /** Applies an event. Throws if the event is refused. */
  one(event: LooseEvent, producer?: string): AnyDecision[] {
    this.#log.before();
    const decided = this.#hostDecisions?.read(event);
    if (decided !== undefined) {
      this.#log.decided(decided.at, decided.decision, producer);
      return [];
    }
    const decisions = this.#commit(event, this.#inFlight.check(event));
    this.#log.applied(event, decisions, producer);
    this.#host.meter.applied(this.#policy.id, event, decisions);
    return decisions;
  }

  /** Applies an event that was applied before a crash, without logging it or checking bounds. */
  again(event: AnyEvent): readonly AnyDecision[] {
    // A policy does not receive the decisions that the host made itself.
    if (this.#hostDecisions?.read(event) !== undefined) return [];
    return this.#commit(event as LooseEvent, this.#inFlight.entering(event));
  }

  /** Logs that an event was refused, and returns the reason. */
  refused(error: unknown, producer?: string): PolicyError {
    // Any other error is a defect; the events before it are applied all the same.
    const refused = isPolicyError(error)
      ? error
      : new PolicyError('internal', { expected: 'the event to be applied', got: String(error), cause: error });
    this.#log.refused(refused, producer);
    return refused;
  }

  #commit(event: LooseEvent, entering: Entering): AnyDecision[] {
    const decisions = this.#policy.send(event);
    this.#inFlight.count(entering, decisions);
    this.#host.decided(decisions);
    return decisions;
  }

  #stamped(event: unknown): LooseEvent {
    const at = typeof event === 'object' && event !== null && !Array.isArray(event) && !Object.hasOwn(event, 'at');
    return (at ? { ...event, at: this.#host.clock.now() } : event) as LooseEvent;
  }
}
