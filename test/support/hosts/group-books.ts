/** What must be true of responses, rewards, groups and rounds, from what a host was told alone. */
import { expect } from 'vitest';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

interface Response {
  readonly promptId: string;
  readonly tokens: number;
  reward?: number | 'failed';
  /** Whether its prompt counts. */
  counts?: true;
  /** Whether a completed round trains on it. */
  isFinal?: true;
}

interface Round {
  /** Its prompts, with their responses, once it is completed. */
  prompts?: ReadonlyMap<string, readonly string[]>;
  readonly groups: Map<string, readonly string[]>;
  readonly unrewarded: Set<string>;
  trains?: readonly string[];
  over?: true;
}

const sorted = (ids: Iterable<string>): string[] => [...ids].sort();

export class GroupBooks {
  readonly #perPrompt: number;
  readonly #tokens = new Map<string, number>();
  readonly #responses = new Map<string, Response>();
  /** Responses that are in a group, and not in a group of a round that has failed. */
  readonly #grouped = new Set<string>();
  readonly rounds = new Map<string, Round>();

  constructor(responsesPerPrompt: number) {
    this.#perPrompt = responsesPerPrompt;
  }

  /** The host has reported a completed response. */
  completed(requestId: string, tokens: number): void {
    if (!this.#tokens.has(requestId)) this.#tokens.set(requestId, tokens);
  }

  /** Rounds whose groups are not trained yet. */
  get untrained(): string[] {
    return [...this.rounds].filter(([, one]) => one.over !== true).map(([id]) => id);
  }

  /** Whether a round is complete and rewarded. */
  isReady(roundId: string): boolean {
    return this.rounds.get(roundId)?.trains !== undefined;
  }

  told(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'round.planned':
        expect(this.rounds.has(decision.roundId)).toBe(false);
        this.rounds.set(decision.roundId, { groups: new Map(), unrewarded: new Set() });
        return;
      case 'response.accepted': {
        const { requestId, promptId } = decision;
        expect(this.#responses.has(requestId), `${requestId} is accepted once`).toBe(false);
        this.#responses.set(requestId, { promptId, tokens: this.#tokens.get(requestId)! });
        return;
      }
      case 'reward.scored':
        return this.#rewarded(decision.requestId, decision.reward);
      case 'reward.failed':
        return this.#rewarded(decision.requestId, 'failed');
      case 'prompt.returned': {
        // Of a round that has failed; what it keeps may be rewarded again, and nothing of another copy of it.
        for (const { requestId } of decision.prompt.kept ?? []) delete this.#responses.get(requestId)?.reward;
        return;
      }
      case 'prompt.counted':
        for (const { requestId } of decision.responses) this.#responses.get(requestId)!.counts = true;
        return;
      case 'group.rewarded':
        return this.#group(decision);
      case 'group.unrewarded':
        this.rounds.get(decision.roundId)!.unrewarded.add(decision.promptId);
        return;
      case 'group.withdrawn':
        for (const id of this.rounds.get(decision.roundId)!.groups.get(decision.promptId) ?? []) {
          this.#grouped.delete(id);
        }
        return;
      case 'round.completed':
        return this.#complete(decision);
      case 'round.rewarded':
        return this.#ready(decision);
      case 'round.trained': {
        const round = this.rounds.get(decision.roundId)!;
        expect(sorted(decision.groups), `${decision.roundId} trains its groups`).toEqual(sorted(round.trains!));
        expect(round.over).toBeUndefined();
        round.over = true;
        return;
      }
      default:
    }
  }

  #rewarded(requestId: string, reward: number | 'failed'): void {
    const response = this.#responses.get(requestId);
    expect(response, `${requestId} was accepted`).toBeDefined();
    expect(response!.reward, `${requestId} is rewarded once`).toBeUndefined();
    response!.reward = reward;
  }

  /** A group has all responses of its prompt that have a reward, each in no other group. */
  #group({ roundId, promptId, samples, tokens, responses }: Decision<'group.rewarded'>): void {
    const round = this.rounds.get(roundId)!;
    expect(round.groups.has(promptId), `${promptId} is one group of ${roundId}`).toBe(false);
    for (const { requestId, tokens: own, reward } of responses) {
      expect(this.#responses.get(requestId), requestId).toMatchObject({ promptId, tokens: own, reward });
      expect(this.#grouped.has(requestId), `${requestId} is in one group`).toBe(false);
      this.#grouped.add(requestId);
    }
    expect(samples).toBe(responses.length);
    expect(tokens).toBe(responses.reduce((sum, one) => sum + one.tokens, 0));
    const ids = responses.map((one) => one.requestId);
    round.groups.set(promptId, ids);
  }

  /** The number of prompts and of their responses is checked by the host model of the admission. */
  #complete({ roundId, prompts, reason }: Decision<'round.completed'>): void {
    const round = this.rounds.get(roundId)!;
    expect(round.prompts, `${roundId} completes once`).toBeUndefined();
    if (reason.code === 'round_failed') expect(prompts).toEqual([]);
    round.prompts = new Map(
      prompts.map(({ promptId, responses }) => [promptId, responses.map((one) => one.requestId)]),
    );
    for (const [promptId, ids] of round.prompts) {
      for (const id of ids) {
        const response = this.#responses.get(id);
        expect(response?.promptId, `${id} was accepted`).toBe(promptId);
        expect(response!.isFinal, `${id} is of one round`).toBeUndefined();
        response!.isFinal = true;
      }
    }
  }

  /** A round is ready with all its prompts that have a reward, and all their responses that have one. */
  #ready({ roundId, prompts, reason }: Decision<'round.rewarded'>): void {
    const round = this.rounds.get(roundId)!;
    expect(round.trains).toBeUndefined();
    round.trains = prompts.map((one) => one.promptId);
    if (reason.code === 'round_failed') {
      expect(prompts).toEqual([]);
      round.over = true;
      return;
    }
    const all = round.prompts!;
    expect(sorted([...round.trains, ...round.unrewarded])).toEqual(sorted(all.keys()));
    for (const { promptId, responses } of prompts) {
      const ids = responses.map((one) => one.requestId);
      expect(sorted(ids)).toEqual(sorted(round.groups.get(promptId)!));
      const missing = all.get(promptId)!.filter((id) => !ids.includes(id));
      for (const id of missing) expect(this.#responses.get(id)!.reward).toBe('failed');
      expect(ids.length + missing.length).toBe(this.#perPrompt);
    }
  }
}
