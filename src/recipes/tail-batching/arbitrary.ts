/** Likely next events: events of the admission, with a requested round in the place of an opened one. */

import type { Choices } from '../../core/generators/choices.ts';
import type { EventOf } from '../../core/machine/definition.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import { arbitrary as ofAdmission } from '../../policies/speculative-admission/arbitrary.ts';
import type { tailBatching } from './tail-batching.ts';

type TailEvent = EventOf<typeof tailBatching>;

/** Draws a likely next event. */
export function arbitrary({ parts }: RecipeState, choices: Choices): TailEvent {
  const event = ofAdmission(parts.admission as never, choices);
  if (event.type !== 'round.opened') return event as TailEvent;
  const { at, roundId, weightVersion } = event;
  return { type: 'round.requested', at, roundId, weightVersion };
}
