/**
 * The discrete-event loop of every simulation: machines report events to a policy, and carry out its decisions, in simulated
 * time. The loop knows no particular policies, machines or rounds; a host wires them, and says when a round is over.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from './machines/machine.ts';
import { Timers } from './timers.ts';

/** The interface of a policy to the simulator, which any `Policy` of rollflex fits. */
export interface DrivenPolicy {
  /** Id of the policy. */
  readonly id: string;
  /** Its definition, from which the simulator learns what the policy needs; a policy without one is taken as it is. */
  readonly definition?: AnyPolicyDefinition;
  /**
   * Whether the policy takes events of this type; the loop leaves other events of machines and timers out. All types if absent.
   */
  takes?(type: string): boolean;
  /** Applies an event; throws `PolicyError` if the policy refuses the event. */
  send(event: AnyEvent): readonly AnyDecision[];
}

/** A policy in the loop, with its machines and timers. */
export class PolicyLink {
  readonly #loop: EventLoop;
  readonly #policy: DrivenPolicy;
  readonly #machines: readonly Machine[];
  readonly #note: (decision: VocabularyDecision) => void;
  readonly #timers = new Timers();
  readonly #pending: AnyDecision[] = [];
  /** Time of the next machine event, as of the latest {@link nextAt}. */
  #machinesAt = Infinity;

  /** Use {@link EventLoop.add}. */
  constructor(
    loop: EventLoop,
    policy: DrivenPolicy,
    machines: readonly Machine[],
    note: (decision: VocabularyDecision) => void,
  ) {
    this.#loop = loop;
    this.#policy = policy;
    this.#machines = machines;
    this.#note = note;
  }

  /** Sends an event of a machine or a timer, if the policy takes such events. */
  offer(event: AnyEvent): void {
    if (this.#policy.takes?.(event.type) ?? true) this.send(event);
  }

  /** Sends an event to the policy, and carries out its decisions. */
  send(event: AnyEvent): void {
    const isOuter = this.#pending.length === 0;
    for (const decision of this.#policy.send(event)) this.#pending.push(decision);
    if (!isOuter) return;
    // Keeps the order: effects of a decision come after all decisions made together with it.
    for (let index = 0; index < this.#pending.length; index += 1) {
      const decision = this.#pending[index] as VocabularyDecision;
      if (decision.type === 'timer.set') this.#timers.set(decision.timerId, decision.fireAtSeconds);
      this.#note(decision);
      for (const machine of this.#machines) machine.carryOut(decision, this.#loop.now);
    }
    this.#pending.length = 0;
  }

  /** Forgets a timer whose event other code sends. */
  forgetTimer(timerId: string): void {
    this.#timers.remove(timerId);
  }

  /** Reports machine events to the policy until no machine has anything new at this moment. */
  report(): void {
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const machine of this.#machines) {
        for (const event of machine.advanceTo(this.#loop.now)) {
          isNew = true;
          this.offer(event);
        }
      }
    }
  }

  /** Returns the time of the next machine event or timer; `Infinity` without any. */
  nextAt(): number {
    let least = Infinity;
    for (const machine of this.#machines) least = Math.min(least, machine.nextAt());
    this.#machinesAt = least;
    return Math.min(least, this.#timers.nextAt());
  }

  /** Runs what is due now: the first timer, if it is due before all machines, then the machines. Call this after {@link nextAt}. */
  runDue(): void {
    const timersAt = this.#timers.nextAt();
    if (Math.min(this.#machinesAt, timersAt) > this.#loop.now) return;
    if (timersAt < this.#machinesAt) {
      const timerId = this.#timers.take(timersAt)!;
      this.offer({ type: 'timer.fired', at: timersAt, timerId } as AnyEvent);
    }
    this.report();
  }
}

/** The clock of a simulation, and the policies on this clock: several, where a host runs several jobs. */
export class EventLoop {
  /** The simulated time, in seconds. */
  now = 0;
  readonly #links: PolicyLink[] = [];

  /**
   * Adds a policy and the machines that it decides for, in the order in which they report.
   *
   * @param note - receives every decision before a machine carries it out, for the host's records
   */
  add(
    policy: DrivenPolicy,
    machines: readonly Machine[],
    note: (decision: VocabularyDecision) => void = () => undefined,
  ): PolicyLink {
    const link = new PolicyLink(this, policy, machines, note);
    this.#links.push(link);
    return link;
  }

  /**
   * Advances to the next event of any machine or timer.
   *
   * @param until - in seconds; a later event is left for another call
   * @returns whether there was one
   */
  runOnce(until = Number.MAX_VALUE): boolean {
    let next = Infinity;
    for (const link of this.#links) next = Math.min(next, link.nextAt());
    if (next > until) return false;
    this.now = Math.max(this.now, next);
    for (const link of this.#links) link.runDue();
    return true;
  }

  /** Lets time pass; machines and timers act meanwhile. */
  passTime(until: number): void {
    while (this.runOnce(until));
    this.now = Math.max(this.now, until);
  }
}
