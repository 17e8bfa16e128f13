/** Rewards of samples and their times, both determined by seed, prompt and sample. */
import type { RewardKind } from '../../schemas/index.ts';
import type { Message } from '../../schemas/messages.ts';
import { normal, pickIndex, uniform } from '../workload/random.ts';
import { Correctness } from './correctness.ts';
import type { Judged } from './judges.ts';
import { Learning, type LearningPrompt } from './learning.ts';
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
  /** Task of the prompt, if the trace has it. */
  readonly task?: string | undefined;
  /** Whether the response was correct, if this was recorded. */
  readonly correct?: boolean;
}

/** Reward settings for a job without its own: correct or not, in no time. */
export const plainRewards: RewardSettings = rewardSettings.parse({
  workers: { rule: 1, sandbox: 1, judge: 1 },
  doomedShare: 0,
});

/** Returns what says that a group has its rewards. */
export function rewardedGroup(
  group: Pick<Message<'group.rewarded'>, 'at' | 'roundId' | 'promptId' | 'responses'>,
  missing = 0,
  waitedSeconds = 0,
): Message<'group.rewarded'> {
  const samples = group.responses.length;
  const tokens = group.responses.reduce((sum, one) => sum + one.tokens, 0);
  const reason = { code: 'all_rewarded', responses: samples + missing, missing, waitedSeconds } as const;
  return { type: 'group.rewarded', ...group, samples, tokens, reason };
}

/** Rewards of all samples of a workload. */
export class RewardModel {
  readonly #settings: RewardSettings;
  readonly #seed: number;
  readonly #correctness: Correctness;
  readonly #learning: Learning | undefined;

  /** @param groups - groups of a training step, for `learning` */
  constructor(settings: RewardSettings, seed: number, groups = 1) {
    this.#settings = settings;
    this.#seed = seed;
    this.#correctness = new Correctness(settings, seed);
    this.#learning = settings.learning && new Learning(settings.learning, groups, seed);
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

  /** Trains on a group. A response is judged by what was learnt when its reward is computed. */
  train(prompt: LearningPrompt, responses: readonly { readonly reward: number }[]): void {
    this.#learning?.train(
      prompt,
      responses.map(({ reward }) => reward),
    );
  }

  /** Returns the mean pass rate of prompts now, without guesses; `undefined` if there is none, or no model of learning. */
  passRate(prompts: readonly LearningPrompt[]): number | undefined {
    const learning = this.#learning;
    if (learning === undefined) return undefined;
    const solved = prompts.filter(({ promptIndex }) => !learning.isGuessed(promptIndex));
    if (solved.length === 0) return undefined;
    const sum = solved.reduce((all, one) => all + learning.passRate(one, this.#correctness.rateOf(one.promptIndex)), 0);
    return sum / solved.length;
  }

  #reward(one: Judgeable): 0 | 1 {
    const { promptIndex, sample, correct } = one;
    const learnt = this.#learning?.passRate(one, this.#correctness.rateOf(promptIndex));
    const recorded = learnt === undefined ? correct : undefined;
    return (recorded ?? this.#correctness.isCorrect(promptIndex, sample, learnt)) ? 1 : 0;
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
