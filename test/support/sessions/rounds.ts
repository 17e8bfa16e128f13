/** Rounds of speculative-admission in a test: an event is its type and its fields, and decisions are told in brief. */
import { create, speculativeAdmission } from '../../../src/index.ts';
import type { SpeculativeAdmissionInput } from '../../../src/policies/speculative-admission/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import type { KeptResponse } from '../../../src/schemas/prompts.ts';
import { bothWays as inBothWays, Session } from './session.ts';

export class Rounds extends Session {
  tell(type: VocabularyEvent['type'], fields: object = {}): VocabularyDecision[] {
    return this.send({ type, ...fields } as never);
  }

  /** The same about several requests. */
  each(type: VocabularyEvent['type'], requestIds: readonly string[], fields: object = {}): VocabularyDecision[] {
    return requestIds.flatMap((requestId) => this.tell(type, { requestId, ...fields }));
  }

  supply(roundId: string, ...list: readonly object[]): VocabularyDecision[] {
    return this.tell('prompts.supplied', { roundId, prompts: list });
  }

  /** What a snapshot holds. */
  get state(): Record<string, never> {
    return JSON.parse(JSON.stringify((this.policy.snapshot() as { state: unknown }).state));
  }
}

/** Two prompts of two responses, without speculation, unless the configuration says otherwise. */
const policy = (config: Partial<SpeculativeAdmissionInput>) =>
  create(speculativeAdmission, {
    promptsPerRound: 2,
    responsesPerPrompt: 2,
    ...(config.speculation === 'auto' ? undefined : { promptSpeculation: 1, responseSpeculation: 1 }),
    ...config,
  }) as never;

export const rounds = (config: Partial<SpeculativeAdmissionInput> = {}): Rounds => new Rounds(policy(config));
export const bothWays = inBothWays(rounds);

/** What a round is configured with where prompts take what they have into a later one. */
export const keep = { partialRollout: true, maxStaleness: 1 };

/** What was kept of the response of prompt `a` with this index. */
export const kept = (
  index: number,
  tokens: number,
  finished: boolean,
  more: Partial<KeptResponse> = {},
): KeptResponse => ({ requestId: `a/${index}#0`, index, tokens, weightVersions: [0], finished, ...more });

export const reward = (session: Rounds, requestId: string, value: number): VocabularyDecision[] =>
  session.tell('reward.ready', { requestId, reward: value });

/** What reward-dispatch says when the tries of a reward are used up. */
export const giveUp = (session: Rounds, requestId: string): VocabularyDecision[] =>
  session.tell('reward.failed' as never, {
    requestId,
    promptId: requestId.split('/')[0],
    kind: 'rule',
    reason: { code: 'timeout', timeouts: 1, budget: 0 },
  });

/** Each decision as its type, what it is about, and the code of its reason. */
export function brief(decisions: readonly VocabularyDecision[]): string[] {
  return decisions.map((one) => {
    const { requestId, promptId, prompt, timerId, roundId } = one as unknown as Record<string, string> & {
      prompt?: { promptId: string };
    };
    return `${one.type} ${requestId ?? promptId ?? prompt?.promptId ?? timerId ?? roundId ?? '-'} ${one.reason.code}`;
  });
}
