/** Acceptance by position, estimated from what was seen. */
import type { DraftBudgetSettings } from '../../generated/settings/draft-budget.ts';

/**
 * Returns the chance that a draft is accepted up to its j-th token, for j = 1 … positions: never rising.
 *
 * At each position, the chance that a token is accepted if those before it were is a mean of what was seen there and of the
 * position before (the prior at the first), which counts for `prior.tokens` observations. So a position where nothing was seen
 * goes on as the one before it. The tokens whose predecessors were accepted are not counted by engines if the length of drafts
 * changes; they are the offered ones times the share accepted at the position before.
 */
export function acceptanceOf(
  { seen, prior }: Pick<DraftBudgetSettings, 'seen' | 'prior'>,
  positions: number,
): number[] {
  const chances: number[] = [];
  let reached = 1;
  let chance = 1;
  let rate = prior.acceptance;
  for (let at = 0; at < positions; at += 1) {
    const { offered = 0, accepted = 0 } = seen[at] ?? {};
    const examined = Math.max(accepted, offered * reached);
    rate = (accepted + rate * prior.tokens) / (examined + prior.tokens);
    chance *= rate;
    chances.push(chance);
    reached = offered > 0 ? accepted / offered : 0;
  }
  return chances;
}
