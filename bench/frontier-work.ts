/** What frontier-group-dispatch is measured on: the four tasks of RolloutPipe §5.1, and recorded traces in its setting. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type CostModel, costModelSchema } from '../src/sim/cost-model.ts';
import { normal } from '../src/sim/random.ts';
import { readTrace } from '../src/sim/trace/read.ts';
import { tracedWorkload } from '../src/sim/workload/traced.ts';
import type { Workload } from '../src/sim/workload/workload.ts';
import type { RoundWork, Setting } from './frontier-loop.ts';

/** K and U, RolloutPipe §5.1. */
export const responsesPerPrompt = 8;
const groupsPerUpdate = 2;
/** Length limit of the tasks: the paper gives none, and with this one a rollout of 32 groups takes as long as it says. */
const capTokens = 8192;
/** The same for traces: longer than nearly all that was recorded. */
const traceCapTokens = 32_768;
const promptTokens = 300;

/**
 * Qwen3-1.7B on two A100 40 GB (PCIe) with TP 2. Weights, KV cache and bandwidth are those of model and GPU; what a step
 * takes at least, and for each sequence, is fitted to what the paper says of 96 groups: 509 to 543 s of rollout, and 46
 * to 90 s until the first dispatch without a frontier.
 */
export const paperEngine: CostModel = costModelSchema.parse({
  gpus: 2,
  memoryBoundSeconds: 0.0014,
  computeSecondsPerSequence: 1.1e-5,
  overheadSeconds: 0.012,
  secondsPerSequence: 1e-5,
  secondsPerContextToken: 4.2e-8,
  prefillSecondsPerToken: 2e-5,
  kvCapacityTokens: 560_000,
  maxRunningSequences: 256,
});

/** Lengths and costs of a case, without its number of groups. */
export interface Case {
  readonly name: string;
  readonly setting: Setting;
  round(groups: number, seed: number, round: number): RoundWork;
}

/** Mean length, spread of its logarithm, correlation within a prompt, and the trainer's seconds for a group (Table 1). */
interface Task {
  readonly name: string;
  readonly meanTokens: number;
  readonly sigma: number;
  readonly correlation: number;
  readonly trainSecondsPerGroup: number;
}

/**
 * Mean lengths lie in the range of §5.3 in the proportion of the trainer's times; spread and correlation are in the range
 * that gives the rollout's seconds and the first dispatch of §5.2. The paper does not tell them by task.
 */
const tasks: readonly Task[] = [
  { name: 'LSAT-AR', meanTokens: 3420, sigma: 0.45, correlation: 0.6, trainSecondsPerGroup: 6.11 },
  { name: 'Sci-XW', meanTokens: 3340, sigma: 0.55, correlation: 0.75, trainSecondsPerGroup: 5.97 },
  { name: 'Sci-JL', meanTokens: 3390, sigma: 0.35, correlation: 0.6, trainSecondsPerGroup: 6.05 },
  { name: 'OlyPhys', meanTokens: 3590, sigma: 0.55, correlation: 0.6, trainSecondsPerGroup: 6.64 },
];

/** The trainer's seconds for a token: 6.11 s for a group of LSAT-AR. */
const trainSecondsPerToken = 6.11 / (responsesPerPrompt * 3420);
const shared = {
  engine: paperEngine,
  engines: 1,
  responsesPerPrompt,
  groupsPerUpdate,
  stepSeconds: 0,
  verifierSeconds: 0.1,
};

function taskCase(task: Task, number: number): Case {
  const { name, meanTokens, sigma, correlation } = task;
  const [between, within] = [sigma * Math.sqrt(correlation), sigma * Math.sqrt(1 - correlation)];
  const median = medianFor(meanTokens, sigma);
  return {
    name,
    setting: {
      ...shared,
      trainSecondsPerToken: task.trainSecondsPerGroup / (responsesPerPrompt * meanTokens),
      trainSecondsPerGroup: 0,
    },
    round: (groups, seed, round) => {
      const key = [seed, number, round] as const;
      const lengths = Array.from({ length: groups }, (_, group) => {
        const effect = between * normal(...key, 1, group);
        return Array.from({ length: responsesPerPrompt }, (__, k) =>
          limited(median * Math.exp(effect + within * normal(...key, 2, group, k)), capTokens),
        );
      });
      return { promptTokens: Array<number>(groups).fill(promptTokens), lengths };
    },
  };
}

const limited = (tokens: number, cap: number): number => Math.max(1, Math.min(cap, Math.round(tokens)));

/** The median with which a lognormal that is cut at the cap has this mean. */
function medianFor(meanTokens: number, sigma: number): number {
  let median = meanTokens;
  for (let turn = 0; turn < 20; turn += 1) {
    let sum = 0;
    const draws = 2000;
    for (let at = 0; at < draws; at += 1) sum += Math.min(capTokens, median * Math.exp(sigma * normal(at)));
    median *= meanTokens / (sum / draws);
  }
  return median;
}

/** The four tasks of RolloutPipe §5.1. */
export const paperCases: readonly Case[] = tasks.map(taskCase);

/** A recorded trace, resampled as the simulator does, with engine and trainer of the paper. */
export function traceCase(file: string): Case {
  const trace = readTrace(readFileSync(file, 'utf8'), basename(file));
  if (trace.kind !== 'prompts') throw new Error(`${file}: single responses are needed, not quantiles`);
  const name = basename(file, '.jsonl');
  const workloads = new Map<number, Workload>();
  const workloadOf = (seed: number): Workload => {
    const known = workloads.get(seed);
    if (known !== undefined) return known;
    const made = tracedWorkload({ name, prompts: trace.prompts, capTokens: traceCapTokens, seed });
    workloads.set(seed, made);
    return made;
  };
  return {
    name,
    setting: { ...shared, trainSecondsPerToken, trainSecondsPerGroup: 0 },
    round: (groups, seed, round) => {
      const workload = workloadOf(seed);
      const prompts = Array.from({ length: groups }, (_, group) => workload.prompt(round * groups + group));
      return {
        promptTokens: prompts.map((prompt) => prompt.promptTokens),
        lengths: prompts.map((prompt) => Array.from({ length: responsesPerPrompt }, (_, k) => prompt.sample(k).tokens)),
      };
    },
  };
}
