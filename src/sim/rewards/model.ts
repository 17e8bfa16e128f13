/** Rewards of samples and their times, both determined by seed, prompt and sample. */
import type { RewardKind } from '../../schemas/index.ts';
import { normal, pickIndex, uniform } from '../workload/random.ts';
import { Correctness } from './correctness.ts';
import type { Judged } from './judges.ts';
import { type RewardSettings, rewardSettings } from './settings.ts';

/** A reward, and its time without a time limit. */
export interface RewardWork {
  /** Seconds of work; `Infinity` for code that never ends. */
  readonly seconds: number;
  readonly reward: 0 | 1;
}

const kindOfTask: Readonly<Record<string, RewardKind>> = { code: 'sandbox', judge: 'judge', math: 'rule' };
// Keys of independent draws.
const [kindKey, endKey, promptKey, runKey] = [101, 102, 104, 105];

/** A sample of the workload as the input of its reward. */
export interface Judgeable {
  readonly promptIndex: number;
  readonly sample: number;
  readonly tokens: number;
  /** Whether the response was correct, if this was recorded. */
  readonly correct?: boolean;
}

/** Reward settings for a job without its own: correct or not, in no time. */
export const plainRewards: RewardSettings = rewardSettings.parse({
  workers: { rule: 1, sandbox: 1, judge: 1 },
  doomedShare: 0,
});

/** Rewards of all samples of a workload. */
export class RewardModel {
  readonly #settings: RewardSettings;
  readonly #seed: number;
  readonly #correctness: Correctness;

  constructor(settings: RewardSettings, seed: number) {
    this.#settings = settings;
    this.#seed = seed;
    this.#correctness = new Correctness(settings, seed);
  }

  /** Returns the kind of judge for a prompt's responses: by task, or by a random draw with the given shares. */
  kindOf(promptIndex: number, task: string | undefined): RewardKind {
    const known = task === undefined ? undefined : kindOfTask[task];
    if (known !== undefined) return known;
    const { rule, sandbox, judge } = this.#settings.shares;
    const at = uniform(this.#seed, kindKey, promptIndex) * (rule + sandbox + judge);
    if (at < rule) return 'rule';
    return at < rule + sandbox ? 'sandbox' : 'judge';
  }

  /** Returns the reward of a sample, for jobs that do not simulate the time of rewards. */
  rewardOf(kind: RewardKind, one: Judgeable): 0 | 1 {
    return kind === 'sandbox' && this.#neverEnds(one) ? 0 : this.#reward(one);
  }

  #neverEnds({ promptIndex, sample }: Judgeable): boolean {
    return uniform(this.#seed, endKey, promptIndex, sample) < this.#settings.doomedShare;
  }

  /** Returns the reward of a sample, and its time in seconds. */
  work(kind: RewardKind, one: Judgeable): RewardWork {
    const { ruleSeconds, judgeBaseSeconds, judgeSecondsPerToken } = this.#settings;
    const { promptIndex, sample, tokens } = one;
    const reward = this.#reward(one);
    if (kind === 'rule') return { seconds: ruleSeconds, reward };
    if (kind === 'judge') return { seconds: judgeBaseSeconds + judgeSecondsPerToken * tokens, reward };
    if (this.#neverEnds(one)) return { seconds: Number.POSITIVE_INFINITY, reward: 0 };
    return this.#sandbox(promptIndex, sample, reward);
  }

  /** Returns a judge's reward of a sample. */
  judged(one: Judgeable): Judged {
    return { tokens: one.tokens, reward: this.#reward(one) };
  }

  #reward({ promptIndex, sample, correct }: Judgeable): 0 | 1 {
    return (correct ?? this.#correctness.isCorrect(promptIndex, sample)) ? 1 : 0;
  }

  #sandbox(promptIndex: number, sample: number, reward: 0 | 1): RewardWork {
    const { sandboxMedianSeconds, sandboxSpread, sandboxNoise, sandboxSeconds } = this.#settings;
    const seed = this.#seed;
    if (sandboxSeconds !== undefined) {
      const runs = sandboxSeconds[pickIndex(sandboxSeconds.length, seed, promptKey, promptIndex)]!;
      return { seconds: runs[pickIndex(runs.length, seed, runKey, promptIndex, sample)]!, reward };
    }
    const spread = sandboxSpread * normal(seed, promptKey, promptIndex);
    const noise = sandboxNoise * normal(seed, runKey, promptIndex, sample);
    return { seconds: sandboxMedianSeconds * Math.exp(spread + noise), reward };
  }
}
