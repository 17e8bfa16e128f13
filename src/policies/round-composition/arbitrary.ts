/** Likely next events, for property tests: rounds are requested, prompts are supplied, come again and come back, and are learnt from. */

import { comesBack } from '../../core/generators/arbitrary.ts';
import type { Choices } from '../../core/generators/choices.ts';
import type { RoundCompositionEvent } from '../../generated/settings/round-composition.ts';
import type { CompositionState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: CompositionState, choices: Choices): RoundCompositionEvent {
  const at = choices.below(100);
  const roundId = state.pending?.roundId ?? state.recentRounds.newest ?? 'none';
  // The range of ids is small, so that prompts come again, as in later epochs.
  const promptId = `p${choices.below(12)}`;
  switch (choices.below(12)) {
    case 0:
      return choices.below(4) === 0 ? { type: 'source.exhausted', at } : { type: 'source.reopened', at };
    case 1:
      if (choices.below(3) > 0) return { type: 'host.restarted', at, idPrefix: `h${choices.below(1000)}-` };
      return { type: 'round.failed', at, roundId };
    case 2:
      return comesBack(promptId, at, roundId, choices);
    case 3:
    case 4:
    case 5:
      return ended(promptId, at, roundId, choices);
    case 6:
    case 7:
      if (state.pending === null) return requested(state, at);
      break;
    default:
      if (state.pending === null && choices.below(4) > 0) return requested(state, at);
  }
  const prompts = Array.from({ length: choices.below(8) }, () => ({ promptId: `p${choices.below(12)}` }));
  return { type: 'prompts.supplied', at, roundId, prompts };
}

function requested({ rounds }: CompositionState, at: number): RoundCompositionEvent {
  return { type: 'round.requested', at, roundId: `r${rounds}`, weightVersion: rounds };
}

/** Makes the event for a prompt whose responses are known; long prompts are always long. */
function ended(promptId: string, at: number, roundId: string, choices: Choices): RoundCompositionEvent {
  const tokens = 2 ** Number(promptId.slice(1)) + choices.below(8);
  const requestId = `${promptId}/0#${choices.below(1000)}`;
  if (choices.below(4) === 0) {
    const dropped = [{ requestId, tokens, cause: 'filtered' as const }];
    return { type: 'prompt.filtered', at, promptId, roundId, dropped, reason: { code: 'host' } };
  }
  const responses = [tokens, tokens + 1].map((tokens, index) => ({ requestId: `${requestId}${index}`, tokens }));
  return {
    ...{ type: 'prompt.counted', at, promptId, roundId, responses },
    reason: { code: 'no_filter', counted: 1, needed: 2 },
  };
}
