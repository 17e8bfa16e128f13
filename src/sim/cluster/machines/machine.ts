/** A machine of the simulated cluster. */
import type { AnyEvent } from '../../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';

/** A part of the cluster that works by itself in simulated time. */
export interface Machine {
  /** Carries out a decision, if it is for this machine. */
  carryOut(decision: VocabularyDecision, at: number): void;
  /** Returns the time of the machine's next event; `Infinity` while it is idle. Call this after `advanceTo`. */
  nextAt(): number;
  /** Returns the events that have happened by now, for the policy, each once. */
  advanceTo(at: number): readonly AnyEvent[];
}
