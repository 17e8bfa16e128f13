/** Likely next events: most often of the rollout; otherwise a reward, or an event of the trainer. */

import type { Choices } from '../../core/generators/choices.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { TailPipeliningEvent } from '../../generated/settings/tail-pipelining.ts';
import { arbitrary as ofTrainer } from '../../policies/complete-group-pipelining/arbitrary.ts';
import { arbitrary as ofAssembly } from '../../policies/group-assembly/arbitrary.ts';
import { arbitrary as ofAdmission } from '../../policies/speculative-admission/arbitrary.ts';
import { isTaken } from '../part-messages.ts';
import { tailPipelining } from './tail-pipelining.ts';

/** Draws a likely next event. */
export function arbitrary({ parts: states }: RecipeState, choices: Choices): TailPipeliningEvent {
  const turn = choices.below(6);
  const other =
    turn === 0
      ? ofTrainer(states.pipelining as never, choices)
      : turn === 1 && ofAssembly(states.assembly as never, choices);
  if (other && isTaken(tailPipelining, other.type)) return other as TailPipeliningEvent;
  const event = ofAdmission(states.admission as never, choices);
  if (event.type !== 'round.opened') return event as TailPipeliningEvent;
  const { at, roundId, weightVersion } = event;
  return { type: 'round.requested', at, roundId, weightVersion: weightVersion + 1 };
}
