/**
 * Likely next events: events of the admission, and events that a window waits for; a requested round takes the place of an opened
 * one.
 */

import type { Choices } from '../../core/generators/choices.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { LosslessTailEvent } from '../../generated/settings/lossless-tail.ts';
import { arbitrary as ofComposition } from '../../policies/round-composition/arbitrary.ts';
import { arbitrary as ofAdmission } from '../../policies/speculative-admission/arbitrary.ts';
import { isTaken } from '../part-messages.ts';
import { fromSelection } from '../tail-batching/arbitrary.ts';
import { losslessTail } from './lossless-tail.ts';

/** Draws a likely next event. */
export function arbitrary(state: RecipeState, choices: Choices): LosslessTailEvent {
  const { parts } = state;
  const selected = fromSelection(state, choices);
  if (selected !== undefined) return selected as LosslessTailEvent;
  const composition = parts.composition as { readonly pending: unknown };
  const admission = parts.admission as { readonly round: unknown };
  const isWaiting = composition.pending !== null || (admission.round === null && choices.below(3) > 0);
  if (isWaiting && choices.below(4) > 0) {
    const event = ofComposition(composition as never, choices);
    if (isTaken(losslessTail, event.type)) return event as LosslessTailEvent;
  }
  const event = ofAdmission(parts.admission as never, choices);
  if (isTaken(losslessTail, event.type)) return event as LosslessTailEvent;
  return { type: 'source.reopened', at: event.at };
}
