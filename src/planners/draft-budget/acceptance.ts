/** Estimates the acceptance of draft tokens by position from observations. */
import type { DraftBudgetSettings } from '../../generated/settings/draft-budget.ts';

/**
 * Returns the chance that a draft is accepted up to its j-th token, for j = 1 … positions; the chances never rise.
 *
 * At each position, the chance that a token is accepted if its predecessors were is a weighted mean of the observations there and
 * of the chance at the position before (at the first position: of the prior), which counts for `prior.tokens` observations. So a
 * position without observations continues like the position before. If the length of drafts changes, engines do not count tokens
 * whose predecessors were accepted; this count is then the number of offered tokens times the share accepted at the position
 * before.
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
