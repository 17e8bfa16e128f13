/**
 * A small model of learning, so that pass rates grow with what is trained on. It is a model: no network is trained. A group whose
 * rewards differ moves the logit of the pass rate of all prompts of its domain, and of the other domains by less, as the gradient of
 * GRPO does with advantages divided by their deviation: by the standard deviation of the group's rewards. A group with equal rewards
 * moves nothing.
 */
import { z } from 'zod';
import { uniform } from '../workload/random.ts';

/** Settings of the model. The defaults are fitted to a real GRPO run, see `bench/simulated/learning`. */
export const learningSettings = z.strictObject({
  rate: z
    .number()
    .nonnegative()
    .default(0.43)
    .describe(
      'By how much a step moves the logit of a domain, for each unit of the mean deviation of the rewards of its groups.',
    ),
  transfer: z
    .number()
    .min(0)
    .max(1)
    .default(0.08)
    .describe('Part of it by which the group moves other domains. 1: what a prompt teaches helps with all.'),
  guessedShare: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .describe(
      'Share of the prompts whose responses are right by chance, every other one, as with answers that are guessed or labelled wrongly: their rewards differ, and teach nothing.',
    ),
});

/** The model with its defaults filled in. */
export type LearningSettings = z.output<typeof learningSettings>;

/** A prompt of the data set; its task is its domain. */
export interface LearningPrompt {
  readonly promptIndex: number;
  readonly task?: string | undefined;
}

// Key of independent draws.
const guessedKey = 107;

/** What was learnt so far. */
export class Learning {
  readonly #settings: LearningSettings;
  readonly #groups: number;
  readonly #seed: number;
  /** By domain: what only its own prompts have gained, in logits. */
  readonly #gains = new Map<string, number>();
  /** What prompts of every domain have gained. */
  #common = 0;

  /** @param groups - groups of a step: the loss is a mean over so many */
  constructor(settings: LearningSettings, groups: number, seed: number) {
    this.#seed = seed;
    this.#settings = settings;
    this.#groups = groups;
  }

  /** Whether the responses to a prompt are right by chance. */
  isGuessed(promptIndex: number): boolean {
    return uniform(this.#seed, guessedKey, promptIndex) < this.#settings.guessedShare;
  }

  /** Trains on a group with these rewards, of 0 and 1. */
  train({ promptIndex, task = '' }: LearningPrompt, rewards: readonly number[]): void {
    if (this.isGuessed(promptIndex)) return;
    const mean = rewards.reduce((sum, one) => sum + one, 0) / rewards.length;
    this.gain(task, Math.sqrt(mean * (1 - mean)));
  }

  /** Trains on groups of a task whose rewards have this deviation, or these deviations in all. */
  gain(task: string, deviation: number): void {
    const { rate, transfer } = this.#settings;
    const gain = (rate / this.#groups) * deviation;
    this.#common += gain * transfer;
    this.#gains.set(task, (this.#gains.get(task) ?? 0) + gain * (1 - transfer));
  }

  /** Returns the pass rate of a prompt now. `start` is its pass rate at the beginning. */
  passRate({ promptIndex, task = '' }: LearningPrompt, start: number): number {
    if (this.isGuessed(promptIndex)) return 1 / 2;
    if (start <= 0 || start >= 1) return start;
    const gain = this.#common + (this.#gains.get(task) ?? 0);
    return 1 / (1 + Math.exp(-gain) * (1 / start - 1));
  }
}
