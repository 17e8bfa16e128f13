/** Between a policy and machines, in simulated time: what happens becomes events, decisions are carried out. */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from '../host/machine.ts';
import type { DrivenPolicy } from '../host/scheduler.ts';

/** A policy that sets no timers, and the machines that it decides for. */
export class MachineLoop {
  /** The simulated time, in seconds. */
  now = 0;
  readonly #policy: DrivenPolicy;
  readonly #machines: readonly Machine[];
  readonly #note: (decision: VocabularyDecision) => void;
  readonly #pending: AnyDecision[] = [];

  /** @param note - is told of every decision, before it is carried out */
  constructor(policy: DrivenPolicy, machines: readonly Machine[], note: (decision: VocabularyDecision) => void) {
    this.#policy = policy;
    this.#machines = machines;
    this.#note = note;
  }

  /** Tells the policy of an event, and carries out what it decides. */
  send(event: AnyEvent): void {
    const isOuter = this.#pending.length === 0;
    for (const decision of this.#policy.send(event)) this.#pending.push(decision);
    if (!isOuter) return;
    // In order: what a decision leads to comes after everything that was decided with it.
    for (let index = 0; index < this.#pending.length; index += 1) {
      const decision = this.#pending[index] as VocabularyDecision;
      this.#note(decision);
      for (const machine of this.#machines) machine.carryOut(decision, this.now);
    }
    this.#pending.length = 0;
  }

  /** Tells the policy what has happened by now, until that leads to nothing new at this moment. */
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

  /** Goes on to what happens next; false when nothing will. */
  runOnce(): boolean {
    const next = this.#machines.reduce((least, one) => Math.min(least, one.nextAt()), Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return false;
    this.now = Math.max(this.now, next);
    this.report();
    return true;
  }
}
