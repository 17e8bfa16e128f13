/** How long responses are expected to become, from their siblings and from earlier ones. */
import { type DividedState, enterLine, leaveLine, type Request } from './state.ts';

/** Levels of quantiles whose mean stands for the mean. */
const levels = [0.125, 0.375, 0.625, 0.875];
/** Responses after which those to come count as no siblings of those that have ended, if never all are over: a bound for memory. */
const mostEnds = 16_384;

/** Expects a length for a request. */
export function expect({ lengths, round }: DividedState, one: Request): void {
  const { promptId, domain, tokens, requestId, maxTokens } = one;
  const asked = { promptId: promptId ?? requestId, domain: domain ?? undefined, generatedTokens: tokens, round };
  const { quantiles } = lengths.predict(asked, levels);
  const mean = quantiles.reduce((sum, each) => sum + each, 0) / quantiles.length;
  // Of one that is longer than all others nothing is known.
  const expected = quantiles[levels.length - 1]! > tokens ? mean : 2 * tokens;
  one.expectedTokens = Math.round(maxTokens === null ? expected : Math.min(expected, maxTokens));
}

/** Learns from a response that has ended. */
export function learn(state: DividedState, { promptId, domain }: Request, tokens: number, censored: boolean): void {
  if (promptId === null) return;
  const { lengths } = state;
  lengths.observe({ promptId, domain: domain ?? undefined, tokens, censored, round: state.round });
  state.roundEnds += 1;
  // Who comes now has other weights, and no siblings among those that are over.
  if (state.requests.size > 0 && state.roundEnds < mostEnds) return;
  state.round += 1;
  state.roundEnds = 0;
}

/** Expects other lengths for waiting requests of the prompt of one that has ended. */
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
