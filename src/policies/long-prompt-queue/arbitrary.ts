/** Likely next events, for property tests: prompts are deferred, come back or come again, and rounds open and end. */

import type { Choices } from '../../core/generators/choices.ts';
import type { LongPromptQueueEvent } from '../../generated/settings/long-prompt-queue.ts';
import type { QueueState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: QueueState, choices: Choices): LongPromptQueueEvent {
  const at = choices.below(100);
  const roundId = `r${state.rounds}`;
  const promptId = `p${choices.below(20)}`;
  switch (choices.below(11)) {
    case 8:
      return carried(promptId, at, roundId, choices);
    case 9:
      return { type: 'reward.ready', at, requestId: anyOf(state.unrewarded, choices), reward: choices.below(2) };
    case 10:
      return completed(state, at);
    case 0:
    case 1:
      return { type: 'round.requested', at, roundId, weightVersion: state.rounds };
    case 2:
      return {
        type: 'prompt.returned',
        at,
        prompt: { promptId },
        roundId,
        dropped: [],
        reason: { code: 'not_started' },
      };
    case 3:
      return choices.below(4) === 0 ? { type: 'source.exhausted', at } : { type: 'source.reopened', at };
    default: {
      const count = 1 + choices.below(3);
      const deferral = { count, sinceRound: choices.below(state.rounds + 1), sinceSeconds: at };
      const kept = choices.below(3) > 0 ? [] : [keptBy(promptId, choices)];
      const prompt = { promptId, expectedTokens: choices.below(1000), deferral, kept };
      const reason = { code: 'round_completed', held: 0, needed: 2 } as const;
      return { type: 'prompt.deferred', at, prompt, roundId, dropped: [], reason };
    }
  }
}

/** Ends the last round, empty. */
function completed({ rounds }: QueueState, at: number): LongPromptQueueEvent {
  const round = { roundId: `r${Math.max(0, rounds - 1)}`, kind: 'short', weightVersion: 0 } as const;
  const reason = { code: 'source_exhausted', counted: 0, needed: 1 } as const;
  return { type: 'round.completed', at, ...round, prompts: [], openedSeconds: at, deferred: 0, reason };
}

/** Makes an event for a prompt that continues in the next round or ends there. */
function carried(promptId: string, at: number, roundId: string, choices: Choices): LongPromptQueueEvent {
  const event = { at, promptId, roundId, dropped: [] };
  switch (choices.below(4)) {
    case 0:
      return { ...event, type: 'prompt.filtered', reason: { code: 'host' } };
    case 1:
      return { ...event, type: 'prompt.failed', reason: { code: 'data', failures: 1, budget: 0 } };
    default: {
      const reason = { code: 'within_staleness', startVersion: 0, maxStaleness: 1 } as const;
      return { type: 'prompt.carried', at, promptId, roundId, reason };
    }
  }
}

/** Returns the first kept response that lacks a reward; sometimes a response that does not. */
function anyOf(unrewarded: QueueState['unrewarded'], choices: Choices): string {
  const [first = 'unknown'] = unrewarded.keys();
  return choices.below(4) === 0 ? 'unknown' : first;
}

function keptBy(promptId: string, choices: Choices) {
  const requestId = `${promptId}/0#${choices.below(1000)}`;
  return { requestId, index: 0, tokens: 1 + choices.below(50), weightVersions: [0], finished: choices.below(2) === 0 };
}
