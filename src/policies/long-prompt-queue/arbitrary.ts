/** Likely next events, for property tests: prompts that are deferred, come back and come again, and rounds. */
import type { Choices } from '../../core/definition.ts';
import type { QueueState } from './state.ts';
import type { QueueEvent } from './words.ts';

/** A likely next event. */
export function arbitrary(state: QueueState, choices: Choices): QueueEvent {
  const at = choices.below(100);
  const roundId = `r${state.rounds}`;
  const promptId = `p${choices.below(20)}`;
  switch (choices.below(8)) {
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

function keptBy(promptId: string, choices: Choices) {
  const requestId = `${promptId}/0#${choices.below(1000)}`;
  return { requestId, index: 0, tokens: 1 + choices.below(50), weightVersions: [0], finished: choices.below(2) === 0 };
}
