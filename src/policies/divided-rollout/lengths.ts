/** Expects lengths of responses, from their siblings and from earlier responses. */
import { type DividedState, enterLine, leaveLine, type Request } from './state.ts';

/** The mean of the quantiles at these levels stands for the mean length. */
const levels = [0.125, 0.375, 0.625, 0.875];
/**
 * After so many ended responses, later responses no longer count as their siblings, even if there was never a moment without open
 * requests. This bounds the memory.
 */
const mostEnds = 16_384;

/** Sets the expected length of a request. */
export function expect({ lengths, round }: DividedState, one: Request): void {
  const { promptId, domain, tokens, requestId, maxTokens } = one;
  const asked = { promptId: promptId ?? requestId, domain: domain ?? undefined, generatedTokens: tokens, round };
  const { quantiles } = lengths.predict(asked, levels);
  const mean = quantiles.reduce((sum, each) => sum + each, 0) / quantiles.length;
  // Nothing is known about a response that is longer than all others.
  const expected = quantiles[levels.length - 1]! > tokens ? mean : 2 * tokens;
  one.expectedTokens = Math.round(maxTokens === null ? expected : Math.min(expected, maxTokens));
}

/** Learns from a response that has ended. */
export function learn(state: DividedState, { promptId, domain }: Request, tokens: number, censored: boolean): void {
  if (promptId === null) return;
  const { lengths } = state;
  lengths.observe({ promptId, domain: domain ?? undefined, tokens, censored, round: state.round });
  state.roundEnds += 1;
  // A new request has other weights, and no siblings among the ended responses.
  if (state.requests.size > 0 && state.roundEnds < mostEnds) return;
  state.round += 1;
  state.roundEnds = 0;
}

/** Updates the expected lengths of waiting requests for the prompt whose response has ended. */
export function updateSiblings(state: DividedState, { promptId }: Request): void {
  const group = promptId === null ? undefined : state.groups.get(promptId);
  if (group === undefined) return;
  for (const one of [...group.waiting]) {
    leaveLine(state, one);
    // A sibling has told already.
    one.probe = false;
    expect(state, one);
    enterLine(state, one);
  }
}
