/** Applies the events of a session: sets times, checks bounds, counts events, and writes them into the decision log. */

import type { Clock } from '../../core/machine/clock.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { Policy } from '../../core/machine/policy.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import { failure, type PolicyError } from '../../errors.ts';
import type { SessionDecisionLog } from '../../logs/write/decision-log.ts';
import type { Meter } from '../connection/meter.ts';
import type { SentEntry } from '../journal/entries.ts';
import type { ServerLimits } from '../methods/limits.ts';
import { plain } from '../methods/refusals.ts';
import { type Entering, InFlight, type Total } from './in-flight.ts';
import { HostDecisions } from './shadow.ts';
import type { Turns } from './turns.ts';

/** The type of a policy in a session. */
export type SessionPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;

/** The session and its server, from the point of view of applying events. */
export interface ApplyingHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly meter: Meter | undefined;
  readonly total: Total;
  /** Called with an error that is a defect. */
  readonly defect: (error: unknown) => void;
  /** Called with the decisions of each event, including events that are applied again. */
  readonly decided: (decisions: readonly AnyDecision[]) => void;
}

/** A call whose events are being applied, without or with pauses. */
export interface Sending {
  readonly given: readonly unknown[];
  readonly producer: string | undefined;
  readonly applied: LooseEvent[];
  decisions: AnyDecision[];
  /** The refusal of the event after the applied ones. */
  refused: PolicyError | undefined;
}

/** Returns the step that a call has made. */
export function stepOf({ given, producer, applied, refused }: Sending): SentEntry {
  const of = given.length;
  const step: SentEntry = producer
    ? { kind: 'sent', events: applied, of, producer }
    : { kind: 'sent', events: applied, of };
  return refused === undefined ? step : { ...step, refused: plain(refused) };
}

/** Applies the events of one session. */
export class Applying {
  readonly #policy: SessionPolicy;
  readonly #host: ApplyingHost;
  readonly #log: SessionDecisionLog | undefined;
  readonly #inFlight: InFlight;
  readonly #hostDecisions: HostDecisions | undefined;

  /** @param shadow - whether the host decides by itself and reports its decisions */
  constructor(
    definition: AnyPolicyDefinition,
    policy: SessionPolicy,
    { shadow, log }: { readonly shadow: boolean; readonly log: SessionDecisionLog | undefined },
    host: ApplyingHost,
  ) {
    this.#policy = policy;
    this.#host = host;
    this.#log = log;
    if (shadow) this.#hostDecisions = new HostDecisions(definition);
    this.#inFlight = new InFlight(definition, policy.snapshot(), host.limits, host.total);
  }

  /** Number of ids in flight. */
  get inFlight(): number {
    return this.#inFlight.held;
  }

  /** Number of ids in flight, plus ids that may be minted for them. */
  get promised(): number {
    return this.#inFlight.promised;
  }

  /** Subtracts the ids of the session from the total. */
  leave(): void {
    this.#inFlight.leave();
  }

  /**
   * Applies the events of a call that are not applied yet, up to the first refused one.
   *
   * @param turns - if given, this method may pause
   * @returns false if it pauses, and must be called again
   */
  goOn(sending: Sending, turns?: Turns): boolean {
    const { given, producer, applied } = sending;
    while (applied.length < given.length) {
      const event = this.#stamped(given[applied.length]);
      try {
        const decisions = this.one(event, producer);
        if (given.length === 1) sending.decisions = decisions;
        else for (const one of decisions) sending.decisions.push(one);
      } catch (error) {
        sending.refused = this.refused(error, producer);
        return true;
      }
      applied.push(event);
      if (turns !== undefined && applied.length < given.length && turns.isOver) return false;
    }
    return true;
  }

  /** Applies an event. Throws if the event is refused. */
  one(event: LooseEvent, producer?: string): AnyDecision[] {
    this.#log?.before();
    const decided = this.#hostDecisions?.read(event);
    if (decided !== undefined) {
      this.#log?.decided(decided.at, decided.decision, producer);
      return [];
    }
    const decisions = this.#commit(event, this.#inFlight.check(event));
    this.#log?.applied(event, decisions, producer);
    this.#host.meter?.applied(this.#policy.id, event, decisions);
    return decisions;
  }

  /** Applies an event again that was applied before a crash, without logging or checking bounds. */
  again(event: AnyEvent): readonly AnyDecision[] {
    // A policy does not receive the decisions that the host made itself.
    if (this.#hostDecisions?.read(event) !== undefined) return [];
    return this.#commit(event as LooseEvent, this.#inFlight.entering(event));
  }

  /** Logs that an event was refused, and returns the reason. */
  refused(error: unknown, producer?: string): PolicyError {
    // Any other error is a defect; earlier events of the call stay applied.
    const refused = failure('the event to be applied', error);
    if (refused.code === 'internal') this.#host.defect(refused);
    this.#log?.refused(refused, producer);
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
