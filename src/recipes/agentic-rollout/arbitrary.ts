/** Likely next events: events that a part draws and that the recipe takes from outside; most often the part is the admission. */

import type { Choices } from '../../core/generators/choices.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { AgenticRolloutEvent } from '../../generated/settings/agentic-rollout.ts';
import { arbitrary as slots } from '../../policies/environment-slots/arbitrary.ts';
import { arbitrary as programs } from '../../policies/program-scheduling/arbitrary.ts';
import { arbitrary as composition } from '../../policies/round-composition/arbitrary.ts';
import { arbitrary as admission } from '../../policies/speculative-admission/arbitrary.ts';
import type { Message } from '../../schemas/messages.ts';
import { isTaken } from '../part-messages.ts';
import { agenticRollout } from './agentic-rollout.ts';

/** Draws a likely next event. */
export function arbitrary({ parts }: RecipeState, choices: Choices): AgenticRolloutEvent {
  const composing = parts.composition as { readonly pending: unknown };
  if (composing.pending !== null && choices.below(3) > 0) {
    const event = composition(composing as never, choices) as AgenticRolloutEvent;
    if (isTaken(agenticRollout, event.type)) return event;
  }
  for (let tries = choices.below(3); tries > 0; tries -= 1) {
    const event = (choices.below(2) === 0
      ? programs(parts.programs as never, choices)
      : slots(parts.slots as never, choices)) as unknown as AgenticRolloutEvent;
    if (isTaken(agenticRollout, event.type)) return event;
  }
  const event = admission(parts.admission as never, choices) as AgenticRolloutEvent | Message<'round.opened'>;
  if (event.type === 'round.opened') {
    const { at, roundId, weightVersion } = event;
    return { type: 'round.requested', at, roundId, weightVersion };
  }
  return isTaken(agenticRollout, event.type) ? event : { type: 'source.reopened', at: event.at };
}
