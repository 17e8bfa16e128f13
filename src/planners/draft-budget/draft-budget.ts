/**
 * Chooses how many tokens to draft for each sequence of a decode step: the most tokens per second that acceptance and costs allow,
 * and none where drafts lose. See README.md.
 */
import { definePlanner, type PlannerDefinition } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { DraftBudgetInput, DraftBudgetPlan, DraftBudgetSettings } from '../../generated/settings/draft-budget.ts';
import { acceptanceOf } from './acceptance.ts';
import { draftBudgetInput, draftBudgetPlan } from './schema.ts';
import { Search } from './search.ts';

function compute(input: DraftBudgetSettings): DraftBudgetPlan {
  const { groups, passSeconds, maxDraftTokens, margin } = input;
  const sequences = groups.reduce((sum, group) => sum + group.sequences, 0);
  const measured = passSeconds.at(-1)!.tokens;
  if (sequences > measured) {
    refuse('infeasible', 'groups', `at most ${measured} sequences, the largest step that was measured`, sequences);
  }
  const acceptance = acceptanceOf(input, maxDraftTokens);
  const search = new Search(input, acceptance);
  const none = search.none();
  const best = input.perSequence ? search.perSequence() : search.uniform();
  const pays = best.worth * none.seconds >= none.worth * best.seconds * (1 + margin);
  const chosen = pays ? best : none;
  const budgets = search.spread(chosen);
  const expectedOf = (budget: number, remaining: number): number =>
    acceptance.slice(0, Math.min(budget, remaining - 1)).reduce((sum, chance) => sum + chance, 1);
  const expectedTokens = groups.reduce((sum, { sequences: all, remainingTokens = Infinity }, at) => {
    const { draftTokens, deeper } = budgets[at]!;
    const usual = (all - deeper) * expectedOf(draftTokens, remainingTokens);
    return sum + usual + deeper * expectedOf(draftTokens + 1, remainingTokens);
  }, 0);
  return {
    draftTokens: chosen.depth,
    groups: budgets,
    acceptance,
    passTokens: sequences + chosen.drafted,
    expectedTokens,
    stepSeconds: chosen.seconds,
    speedup: chosen.drafted === 0 ? 1 : (chosen.worth * none.seconds) / (none.worth * chosen.seconds),
  };
}

/** Chooses how many tokens to draft for each sequence of a decode step, and none where drafts lose. */
export const draftBudget: PlannerDefinition<DraftBudgetInput, DraftBudgetSettings, DraftBudgetPlan, 'draft-budget'> =
  definePlanner({
    id: 'draft-budget',
    version: 1,
    summary: 'How many tokens to draft for each sequence of a decode step, and none where drafts lose.',
    source: 'rollflex',
    input: draftBudgetInput,
    plan: draftBudgetPlan,
    compute,
  });
