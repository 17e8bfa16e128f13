/**
 * Counts the responses that a baseline would train on: the first R0 of every prompt, in its first try. The samples of a prompt
 * are counted when the prompt is trained.
 */
import type { KeptCounts } from '../comparison/result.ts';
import { type PromptSource, samplesPerTry } from './source.ts';

/** Counters for one run. */
export class KeptResponses {
  readonly #responsesPerPrompt: number;
  readonly #longTokens: number;
  #longFixed = 0;
  #longKept = 0;
  #longTrained = 0;
  #redrawnResponses = 0;
  #redrawnTokens = 0;
  #redrawnFixedTokens = 0;
  #rewardedGroups = 0;
  #evenGroups = 0;

  /** @param longTokens - responses with at least this many tokens count as long */
  constructor(responsesPerPrompt: number, longTokens: number) {
    this.#responsesPerPrompt = responsesPerPrompt;
    this.#longTokens = longTokens;
  }

  /** Counts a prompt that is trained on the responses of these requests. */
  add(source: PromptSource, promptId: string, responses: readonly { readonly requestId: string }[]): void {
    let isRedrawn = false;
    for (const { requestId } of responses) {
      const drawn = source.drawn(requestId);
      if (drawn === undefined) continue;
      const { sampleOfEpoch: sample, tokens } = drawn;
      if (tokens >= this.#longTokens) {
        this.#longTrained += 1;
        if (sample < this.#responsesPerPrompt) this.#longKept += 1;
      }
      if (sample < samplesPerTry) continue;
      isRedrawn = true;
      this.#redrawnResponses += 1;
      this.#redrawnTokens += tokens;
    }
    for (const tokens of source.firstTokens(promptId, this.#responsesPerPrompt)) {
      if (tokens >= this.#longTokens) this.#longFixed += 1;
      if (isRedrawn) this.#redrawnFixedTokens += tokens;
    }
  }

  /** Counts a trained group with these rewards. */
  rewarded(rewards: readonly { readonly reward: number }[]): void {
    this.#rewardedGroups += 1;
    if (rewards.every(({ reward }) => reward === rewards[0]!.reward)) this.#evenGroups += 1;
  }

  counts(): KeptCounts {
    return {
      longFixed: this.#longFixed,
      longKept: this.#longKept,
      longTrained: this.#longTrained,
      redrawnResponses: this.#redrawnResponses,
      redrawnTokens: this.#redrawnTokens,
      redrawnFixedTokens: this.#redrawnFixedTokens,
      rewardedGroups: this.#rewardedGroups,
      evenGroups: this.#evenGroups,
    };
  }
}
