/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import { mintedId } from '../../core/ids/minted-ids.ts';
import type { StalenessPacingEvent } from '../../generated/settings/staleness-pacing.ts';
import { batchKind, launchKind, type PacingState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: PacingState, choices: Choices): StalenessPacingEvent {
  const at = choices.below(6) === 0 ? choices.below(2000) : state.nextLaunch + state.nextBatch + choices.below(9);
  const { round, weightVersion, groups } = state;
  const roundId = round?.roundId ?? state.recentRounds.newest ?? 'r0';
  if (round === null && choices.below(8) > 0) {
    if (state.isExhausted && choices.below(2) === 0) return { type: 'source.reopened', at };
    const number = state.nextBatch + state.nextLaunch + state.recentRounds.size;
    return { type: 'round.requested', at, roundId: `r${number}`, weightVersion: weightVersion + choices.below(2) };
  }
  const roll = choices.below(20);
  if (roll === 0) return rare(state, roundId, at, choices);
  if (roll < 8 && round !== null && round.asked > 0) return supplied(state, roundId, at, choices);
  if (roll < 11 && state.batches.length > 0) {
    const index = choices.below(6) === 0 ? choices.below(state.batches.length) : 0;
    const { publicationId } = state.batches[index]!;
    const ahead = choices.below(12) === 0 ? choices.below(5) : index + 1;
    return { type: 'weights.published', at, roundId, publicationId, weightVersion: weightVersion + ahead };
  }
  const running = [...groups.values()].filter(({ isComplete }) => !isComplete || choices.below(12) === 0);
  const one = pick(running, choices);
  if (one === undefined) return supplied(state, roundId, at, choices);
  const { groupId, launchId } = one;
  if (choices.below(8) === 0) {
    return { type: 'group.rejected', at, roundId, groupId, launchId, cause: pick(['filtered', 'failed'], choices)! };
  }
  return { type: 'group.completed', at, roundId, groupId, launchId, samples: 2, tokens: choices.below(90) };
}

function supplied(state: PacingState, roundId: string, at: number, choices: Choices): StalenessPacingEvent {
  const count = 1 + choices.below(1 + (state.round?.asked ?? 1));
  const first = state.nextLaunch + state.waiting.size - (choices.below(6) === 0 ? 2 : 0);
  const prompts = Array.from({ length: count }, (_, index) => ({
    promptId: `p${Math.max(0, first + index)}`,
    ...(choices.below(9) === 0 ? { ref: `row ${index}` } : undefined),
  }));
  return { type: 'prompts.supplied', at, roundId, prompts };
}

function rare(state: PacingState, roundId: string, at: number, choices: Choices): StalenessPacingEvent {
  const { prefix, nextLaunch, nextBatch } = state;
  const launchId = mintedId(prefix, launchKind, choices.below(nextLaunch + 1));
  const groupId = state.groups.get(launchId)?.groupId ?? 'p0';
  switch (choices.below(10)) {
    case 0:
    case 1:
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
    case 2:
      return { type: 'source.exhausted', at, ...(choices.below(3) === 0 ? { domain: 'math' } : undefined) };
    case 3:
      return { type: 'source.reopened', at };
    case 4: {
      const publicationId = mintedId(prefix, batchKind, choices.below(nextBatch + 1));
      const weightVersion = state.weightVersion + choices.below(3);
      return { type: 'weights.published', at, roundId, publicationId, weightVersion };
    }
    case 5:
      return { type: 'group.rejected', at, roundId, groupId, launchId, cause: 'failed' };
    case 6:
      return { type: 'group.completed', at, roundId, groupId, samples: 2, tokens: 1 };
    case 7: {
      const old = pick([...state.recentRounds], choices) ?? 'r0';
      return { type: 'prompts.supplied', at, roundId: old, prompts: [{ promptId: 'p1' }] };
    }
    case 8:
      return { type: 'round.requested', at, roundId, weightVersion: state.weightVersion };
    default:
      return { type: 'group.completed', at, roundId, groupId, launchId, samples: 2, tokens: 1 };
  }
}
