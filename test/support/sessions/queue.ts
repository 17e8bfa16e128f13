/** The long-prompt queue in a test: prompts are put in by their ids, and rounds are planned. */
import { create, longPromptQueue } from '../../../src/index.ts';
import type { LongPromptQueueInput } from '../../../src/policies/long-prompt-queue/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { bothWays as inBothWays, only, Session } from './session.ts';

export class Queue extends Session {
  /** A prompt that was deferred once, in the round with this ordinal, unless `more` says otherwise. */
  defer(promptId: string, more: object = {}, sinceRound = 0, count = 1): VocabularyDecision[] {
    const prompt = { promptId, deferral: { count, sinceRound, sinceSeconds: 0 }, ...more };
    const reason = { code: 'round_completed', held: 0, needed: 2 };
    return this.send({ type: 'prompt.deferred', prompt, roundId: 'x', dropped: [], reason } as never);
  }

  giveBack(prompt: object): VocabularyDecision[] {
    const reason = { code: 'not_started' };
    return this.send({ type: 'prompt.returned', prompt, roundId: 'x', dropped: [], reason } as never);
  }

  request(roundId = `r${this.rounds++}`, weightVersion = 0): VocabularyDecision[] {
    return this.send({ type: 'round.requested', roundId, weightVersion } as never);
  }

  exhaust(domain?: string): VocabularyDecision[] {
    return this.send({ type: 'source.exhausted', ...(domain === undefined ? {} : { domain }) } as never);
  }

  /** Requests a round: its kind, its prompts and how many more it wants, in brief. */
  plan(): string {
    const decisions = this.request();
    const [planned] = only(decisions, 'round.planned');
    const wants = only(decisions, 'prompts.request')[0]?.count ?? 0;
    if (planned === undefined) return decisions.map((one) => one.type).join();
    return `${planned.kind} ${planned.queued.map((one) => one.promptId).join(',')} +${wants} ${planned.reason.code}`;
  }

  get state(): Record<string, unknown> {
    return JSON.parse(JSON.stringify((this.policy.snapshot() as { state: unknown }).state));
  }
}

/** Two prompts a long round and three a short one, unless the configuration says otherwise. */
const policy = (config: Partial<LongPromptQueueInput>) =>
  create(longPromptQueue, { promptsPerRound: 2, promptSpeculation: 1.5, ...config }) as never;

export const bothWays = inBothWays((config: Partial<LongPromptQueueInput> = {}) => new Queue(policy(config)));
