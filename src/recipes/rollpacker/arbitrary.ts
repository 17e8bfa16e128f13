/** Likely next events: events that a part draws and that the recipe takes from outside; most often the part is the admission. */

import type { Choices } from '../../core/generators/choices.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { RollpackerEvent } from '../../generated/settings/rollpacker.ts';
import { arbitrary as tp } from '../../policies/adaptive-tp/arbitrary.ts';
import { arbitrary as scaleDown } from '../../policies/gpu-scale-down/arbitrary.ts';
import { arbitrary as rewards } from '../../policies/reward-dispatch/arbitrary.ts';
import { arbitrary as composition } from '../../policies/round-composition/arbitrary.ts';
import { arbitrary as admission } from '../../policies/speculative-admission/arbitrary.ts';
import { arbitrary as training } from '../../policies/stream-training/arbitrary.ts';
import type { Message } from '../../schemas/messages.ts';
import { isTaken } from '../part-messages.ts';
import { rollpacker } from './rollpacker.ts';

type ParsedConfig = ReturnType<typeof rollpacker.config.parse>;

const parts = { admission, rewards, training, scaleDown, tp };

/** Draws a likely next event. */
export function arbitrary({ parts: states, config }: RecipeState<ParsedConfig>, choices: Choices): RollpackerEvent {
  const composing = states.composition as { readonly pending: unknown };
  if (composing.pending !== null && choices.below(3) > 0) {
    const event = composition(composing as never, choices) as RollpackerEvent;
    if (isTaken(rollpacker, event.type)) return event;
  }
  const names = ['rewards', 'training', 'scaleDown', 'tp'] as const;
  const name = choices.below(2) === 0 ? 'admission' : names[choices.below(names.length)]!;
  const event = parts[name](states[name] as never, choices) as RollpackerEvent | Message<'round.opened'>;
  if (event.type === 'round.opened') {
    const { at, roundId, weightVersion } = event;
    return { type: 'round.requested', at, roundId, weightVersion };
  }
  const isOutside = isTaken(rollpacker, event.type) && (config.streamTraining || name !== 'scaleDown');
  return isOutside ? event : { type: 'source.reopened', at: event.at };
}
