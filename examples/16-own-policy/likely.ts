/** Likely events for the laws. */

// #region likely
import type { Arbitrary } from 'rollflex/testing';
import type { State } from './longest-first.ts';

/** Likely events: a small space of ids, so that some repeat, and some come late. */
export const likely: Arbitrary<State> = ({ round, requests, launched }, choices) => {
  const at = choices.below(100);
  const roundId = round !== null && choices.below(4) > 0 ? round.roundId : `r${choices.below(3)}`;
  const prompts = Array.from({ length: 1 + choices.below(3) }, () => ({
    promptId: `p${choices.below(9)}`,
    expectedTokens: 1 + choices.below(1000),
  }));
  const running = [...requests.keys()];
  const requestId = running[choices.below(Math.max(1, running.length))] ?? `p0#${choices.below(launched + 2)}`;
  switch (choices.below(10)) {
    case 0:
    case 1:
      return { type: 'round.opened', at, roundId, kind: 'short', weightVersion: 1, prompts };
    case 2:
    case 3:
    case 4:
      return { type: 'prompts.supplied', at, roundId, prompts };
    case 5:
      return { type: 'source.exhausted', at };
    case 6:
      return { type: 'request.aborted', at, requestId };
    default:
      return { type: 'response.completed', at, requestId, tokens: 1 + choices.below(1000) };
  }
};
// #endregion
