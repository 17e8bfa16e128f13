/** How long the reward of each sample takes, and what it is: fixed by the seed, the prompt and the sample. */
import type { RewardKind } from '../../schemas/index.ts';
import { normal, pickIndex, uniform } from '../random.ts';
import type { Judged } from './judges.ts';
import type { RewardSettings } from './settings.ts';

/** One reward, as it would be computed without a limit of time. */
export interface RewardWork {
  /** Seconds of work; `Infinity` for code that never ends. */
  readonly seconds: number;
  readonly reward: 0 | 1;
}

const kindOfTask: Readonly<Record<string, RewardKind>> = { code: 'sandbox', judge: 'judge', math: 'rule' };
// Names of independent draws.
const [kindKey, endKey, correctKey, promptKey, runKey] = [101, 102, 103, 104, 105];

/** Rewards of all samples of a workload. */
export class RewardModel {
  readonly #settings: RewardSettings;
  readonly #seed: number;

  constructor(settings: RewardSettings, seed: number) {
    this.#settings = settings;
    this.#seed = seed;
  }

  /** Who judges the responses of a prompt: by its task, or drawn by the shares. */
  kindOf(promptIndex: number, task: string | undefined): RewardKind {
    const known = task === undefined ? undefined : kindOfTask[task];
    if (known !== undefined) return known;
    const { rule, sandbox, judge } = this.#settings.shares;
    const at = uniform(this.#seed, kindKey, promptIndex) * (rule + sandbox + judge);
    if (at < rule) return 'rule';
    return at < rule + sandbox ? 'sandbox' : 'judge';
  }

  /** The reward of a sample. */
  work(kind: RewardKind, promptIndex: number, sample: number, tokens: number): RewardWork {
    const { ruleSeconds, judgeBaseSeconds, judgeSecondsPerToken } = this.#settings;
    const reward = this.#reward(promptIndex, sample);
    if (kind === 'rule') return { seconds: ruleSeconds, reward };
    if (kind === 'judge') return { seconds: judgeBaseSeconds + judgeSecondsPerToken * tokens, reward };
    return this.#sandbox(promptIndex, sample, reward);
  }

  /** What a judge says of a sample. */
  judged(promptIndex: number, sample: number, tokens: number): Judged {
    return { tokens, reward: this.#reward(promptIndex, sample) };
  }

  #reward(promptIndex: number, sample: number): 0 | 1 {
    return uniform(this.#seed, correctKey, promptIndex, sample) < this.#settings.correctShare ? 1 : 0;
  }

  #sandbox(promptIndex: number, sample: number, reward: 0 | 1): RewardWork {
    const { doomedShare, sandboxMedianSeconds, sandboxSpread, sandboxNoise, sandboxSeconds } = this.#settings;
    const seed = this.#seed;
    if (uniform(seed, endKey, promptIndex, sample) < doomedShare)
      return { seconds: Number.POSITIVE_INFINITY, reward: 0 };
    if (sandboxSeconds !== undefined) {
      const runs = sandboxSeconds[pickIndex(sandboxSeconds.length, seed, promptKey, promptIndex)]!;
      return { seconds: runs[pickIndex(runs.length, seed, runKey, promptIndex, sample)]!, reward };
    }
    const spread = sandboxSpread * normal(seed, promptKey, promptIndex);
    const noise = sandboxNoise * normal(seed, runKey, promptIndex, sample);
    return { seconds: sandboxMedianSeconds * Math.exp(spread + noise), reward };
  }
}
