/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { engineAdded, engineEvent } from '../../core/generators/arbitrary.ts';
import { type Choices, pick } from '../../core/generators/choices.ts';
import type { DividedRolloutEvent } from '../../generated/settings/divided-rollout.ts';
import type { DividedState, Request } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: DividedState, choices: Choices): DividedRolloutEvent {
  const at = choices.below(6) === 0 ? choices.below(3000) : state.seq + choices.below(8);
  const roll = choices.below(24);
  if (state.engines.size === 0 && roll < 12) return engineAdded(at, choices);
  if (roll < 4 || state.requests.size === 0) {
    const prompt = choices.below(4);
    return { type: 'request.opened', at, requestId: `x${state.seq}`, ...(prompt > 0 && { promptId: `p${prompt}` }) };
  }
  if (roll < 22) return step(state, at, choices);
  return engineEvent(state, at, choices);
}

/** The usual next report of a request, or any report of a request that is open or was open. */
function step(state: DividedState, at: number, choices: Choices): DividedRolloutEvent {
  const one = pick([...state.requests.values()], choices);
  const past = choices.below(12) === 0 ? pick([...state.ended], choices) : undefined;
  if (one === undefined || past !== undefined) return report(past ?? 'x0', undefined, at, choices);
  if (one.phase === 'opened') return asking(state, at, choices);
  if (one.phase === 'waiting' || choices.below(8) === 0) return report(one.requestId, one, at, choices);
  const { requestId, tokens, chunkTokens, maxTokens } = one;
  const isLast = maxTokens !== null && tokens + chunkTokens >= maxTokens;
  if (!isLast && choices.below(3) > 0) return { type: 'chunk.finished', at, requestId, tokens: tokens + chunkTokens };
  return { type: 'response.completed', at, requestId, tokens: tokens + 1 + choices.below(chunkTokens) };
}

/** All opened requests that have not asked for an engine, or some of them. */
function asking(state: DividedState, at: number, choices: Choices): DividedRolloutEvent {
  const opened = [...state.requests.values()].filter(({ phase }) => phase === 'opened');
  const requests = opened.slice(0, 1 + choices.below(opened.length)).map(({ requestId }) => {
    const domain = choices.below(2) === 0 ? { domain: 'math' } : {};
    const maxTokens = choices.below(3) === 0 ? { maxTokens: 100 + choices.below(900) } : {};
    return { requestId, promptTokens: choices.below(200), ...domain, ...maxTokens };
  });
  return { type: 'chunks.requested', at, requests };
}

function report(requestId: string, one: Request | undefined, at: number, choices: Choices): DividedRolloutEvent {
  const tokens = (one?.tokens ?? 0) + choices.below(200);
  switch (choices.below(6)) {
    case 0:
      return { type: 'response.failed', at, requestId, kind: 'infrastructure' };
    case 1:
      return { type: 'request.aborted', at, requestId, ...(choices.below(2) === 0 && { tokens }) };
    case 2:
      return { type: 'response.completed', at, requestId, tokens };
    case 3: {
      const requests = [{ requestId, promptTokens: choices.below(300), tokens: choices.below(100) }];
      return { type: 'chunks.requested', at, requests };
    }
    default:
      return { type: 'chunk.finished', at, requestId, tokens };
  }
}
