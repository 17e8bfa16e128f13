/** Likely next events, for property tests: rounds are requested, prompts are offered again and again, and earn rewards. */

import { comesBack } from '../../core/generators/arbitrary.ts';
import type { Choices } from '../../core/generators/choices.ts';
import type { PromptSelectionEvent } from '../../generated/settings/prompt-selection.ts';
import type { SelectionState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: SelectionState, choices: Choices): PromptSelectionEvent {
  const at = choices.below(100);
  const { need, recentRounds } = state;
  const roundId = choices.below(40) === 0 ? 'none' : (need?.roundId ?? recentRounds.newest ?? 'none');
  const promptId = `p${choices.below(12)}`;
  switch (choices.below(14)) {
    case 0:
      if (choices.below(3) > 0) return { type: 'source.reopened', at };
      return { type: 'source.exhausted', at, ...(choices.below(3) === 0 ? { domain: 'd0' } : undefined) };
    case 1:
      if (choices.below(3) === 0) return { type: 'round.failed', at, roundId };
      return { type: 'host.restarted', at, idPrefix: `h${choices.below(1000)}-`, weightVersion: choices.below(9) };
    case 2:
      return comesBack(promptId, at, roundId, choices);
    case 3:
    case 4:
    case 5:
      return rewarded(promptId, at, roundId, choices);
    case 6:
    case 7:
      return requested(state, at);
    case 8:
      if (choices.below(3) > 0 && need === null) return requested(state, at);
      return {
        ...{ type: 'prompts.request', at, roundId, count: 1 + choices.below(3) },
        reason: { code: 'filtered', target: 3, admitted: 2 },
      };
    default:
      if (need === null && choices.below(3) > 0) return requested(state, at);
      return {
        type: 'prompts.supplied',
        at,
        roundId,
        prompts: Array.from({ length: choices.below(8) }, () => offered(choices)),
      };
  }
}

// The range of ids is small, so that prompts come again, as in later epochs.
function offered(choices: Choices): { promptId: string; domain?: string } {
  const n = choices.below(12);
  return n < 4 ? { promptId: `p${n}` } : { promptId: `p${n}`, domain: `d${n % 3}` };
}

function requested({ rounds }: SelectionState, at: number): PromptSelectionEvent {
  return { type: 'round.requested', at, roundId: `r${rounds}`, weightVersion: rounds };
}

/** Makes the event for a prompt whose rewards are known: some always pass, some never, others now and then. */
function rewarded(promptId: string, at: number, roundId: string, choices: Choices): PromptSelectionEvent {
  const n = Number(promptId.slice(1));
  const one = (index: number) => ({
    ...{ requestId: `${promptId}/${index}#${choices.below(1000)}`, tokens: 2 ** n + choices.below(8) },
    reward: n % 3 === 2 ? choices.below(2) : n % 3,
  });
  const responses = [one(0), one(1)];
  const cut = choices.below(4) === 0 ? { launched: 3 } : {};
  switch (choices.below(3)) {
    case 0: {
      const tokens = responses.reduce((sum, response) => sum + response.tokens, 0);
      return {
        ...{ type: 'group.rewarded', at, roundId, promptId, samples: 2, tokens, responses, ...cut },
        reason: { code: 'all_rewarded', responses: 2, missing: 0, waitedSeconds: 0 },
      };
    }
    case 1: {
      const dropped = responses.map((response) => ({ ...response, cause: 'filtered' as const }));
      return { type: 'prompt.filtered', at, promptId, roundId, dropped, ...cut, reason: { code: 'host' } };
    }
    default: {
      const known = choices.below(3) === 0 ? responses.map(({ reward: _, ...rest }) => rest) : responses;
      return {
        ...{ type: 'prompt.counted', at, promptId, roundId, responses: known, ...cut },
        reason: { code: 'no_filter', counted: 1, needed: 2 },
      };
    }
  }
}
