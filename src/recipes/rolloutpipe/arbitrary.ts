/** Likely next events: sometimes a round opens; otherwise the rollout or the trainer reports something. */

import type { Choices } from '../../core/generators/choices.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { RolloutPipeEvent } from '../../generated/settings/rolloutpipe.ts';
import { arbitrary as ofTrainer } from '../../policies/complete-group-pipelining/arbitrary.ts';
import { isTaken } from '../part-messages.ts';
import { arbitrary as ofCollection } from './collection/arbitrary.ts';
import { rolloutPipe } from './rolloutpipe.ts';

/** Draws a likely next event. */
export function arbitrary({ parts: states }: RecipeState, choices: Choices): RolloutPipeEvent {
  const trainer = states.pipelining as Parameters<typeof ofTrainer>[0];
  const { rounds, recentRounds, weightVersion } = trainer;
  if (rounds.size === 0 || (rounds.size < 3 && choices.below(40) === 0)) {
    const opened = rounds.size + recentRounds.size;
    const prompts = Array.from({ length: choices.below(7) }, (_, index) => ({
      promptId: `p${opened}.${index}`,
      ...(choices.below(3) === 0 ? { promptTokens: choices.below(20), domain: 'math' } : undefined),
    }));
    const version = Math.max(0, weightVersion + 1 - choices.below(3));
    return { type: 'round.opened', at: 0, roundId: `r${opened}`, kind: 'long', weightVersion: version, prompts };
  }
  if (choices.below(4) === 0) {
    const event = ofTrainer(trainer, choices);
    if (isTaken(rolloutPipe, event.type) && event.type !== 'round.opened') return event as RolloutPipeEvent;
  }
  return ofCollection(states.collection as never, choices) as RolloutPipeEvent;
}
