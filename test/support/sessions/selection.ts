/** prompt-selection in a test. */
import { create, promptSelection } from '../../../src/index.ts';
import type { PromptSelectionInput } from '../../../src/policies/prompt-selection/index.ts';
import type { SavedSelection } from '../../../src/policies/prompt-selection/state.ts';
import type { Prompt, PromptChoice, VocabularyDecision } from '../../../src/schemas/index.ts';
import { only, Session } from './session.ts';

export class Selection extends Session {
  constructor(config: Partial<PromptSelectionInput> = {}) {
    super(create(promptSelection, { promptsPerRound: 1, responsesPerPrompt: 4, ...config }) as never);
  }

  request(weightVersion = 0): VocabularyDecision[] {
    return this.send({ type: 'round.requested', roundId: `r${this.rounds++}`, weightVersion } as never);
  }

  lacks(count: number): VocabularyDecision[] {
    const reason = { code: 'filtered', target: count, admitted: 0 };
    return this.send({ type: 'prompts.request', roundId: `r${this.rounds - 1}`, count, reason } as never);
  }

  supply(...all: (string | Prompt)[]): VocabularyDecision[] {
    const given = all.map((one) => (typeof one === 'string' ? { promptId: one } : one));
    return this.send({ type: 'prompts.supplied', roundId: `r${this.rounds - 1}`, prompts: given });
  }

  earned(
    promptId: string,
    rewards: readonly number[],
    tokens: number | readonly number[] = 10,
    more: object = {},
  ): void {
    const responses = rewards.map((reward, index) => ({
      ...{ requestId: `${promptId}/${index}#0`, reward },
      tokens: typeof tokens === 'number' ? tokens : tokens[index % tokens.length]!,
    }));
    this.send({
      ...{
        type: 'group.rewarded',
        roundId: `earned ${this.at++}`,
        promptId,
        samples: rewards.length,
        tokens: 1,
        responses,
      },
      reason: { code: 'all_rewarded', responses: rewards.length, missing: 0, waitedSeconds: 0 },
      ...more,
    } as never);
  }

  returned(given: string | Prompt): VocabularyDecision[] {
    const prompt = typeof given === 'string' ? { promptId: given } : given;
    const reason = { code: 'round_failed' };
    return this.send({ type: 'prompt.returned', prompt, roundId: 'x', dropped: [], reason } as never);
  }

  /** Gives the open round up. */
  fail(): void {
    this.send({ type: 'round.failed', roundId: `r${this.rounds - 1}` } as never);
  }

  /** What was said of a prompt that is offered in a round of its own. */
  offered(promptId: string, weightVersion = 0): PromptChoice {
    this.request(weightVersion);
    const decisions = this.supply(promptId);
    if (taken(decisions).length === 0) this.fail();
    return [...only(decisions, 'prompts.selected'), ...only(decisions, 'prompts.passed')][0]!.choices[0]!;
  }

  saved(): SavedSelection {
    return (this.policy.snapshot() as { state: SavedSelection }).state;
  }
}

export const taken = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'prompts.selected').flatMap((one) => one.prompts.map(({ promptId }) => promptId));
export const passed = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'prompts.passed').flatMap((one) => one.prompts.map(({ promptId }) => promptId));
