/** Connects a policy with machines in simulated time: machines send events, and carry out decisions. */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from '../cluster/machine.ts';
import type { DrivenPolicy } from '../colocated/scheduler.ts';

/** A policy that sets no timers, and the machines that it decides for. */
export class MachineLoop {
  /** The simulated time, in seconds. */
  now = 0;
  readonly #policy: DrivenPolicy;
  readonly #machines: readonly Machine[];
  readonly #note: (decision: VocabularyDecision) => void;
  readonly #pending: AnyDecision[] = [];

  /** @param note - receives every decision, before it is carried out */
  constructor(policy: DrivenPolicy, machines: readonly Machine[], note: (decision: VocabularyDecision) => void) {
    this.#policy = policy;
    this.#machines = machines;
    this.#note = note;
  }

  /** Sends an event to the policy, and carries out its decisions. */
  send(event: AnyEvent): void {
    const isOuter = this.#pending.length === 0;
    for (const decision of this.#policy.send(event)) this.#pending.push(decision);
    if (!isOuter) return;
    // Keeps the order: effects of a decision come after all decisions that were made with it.
    for (let index = 0; index < this.#pending.length; index += 1) {
      const decision = this.#pending[index] as VocabularyDecision;
      this.#note(decision);
      for (const machine of this.#machines) machine.carryOut(decision, this.now);
    }
    this.#pending.length = 0;
  }

  /** Reports events to the policy until there is nothing new at this moment. */
  report(): void {
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const machine of this.#machines) {
        for (const event of machine.advanceTo(this.now)) {
          isNew = true;
          this.send(event);
        }
      }
    }
  }

  /** Advances to the next event; returns false when there is none. */
  runOnce(): boolean {
    const next = this.#machines.reduce((least, one) => Math.min(least, one.nextAt()), Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return false;
    this.now = Math.max(this.now, next);
    this.report();
    return true;
  }
}
