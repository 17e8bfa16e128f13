/** What frontier-group-dispatch is measured on: the four tasks of RolloutPipe §5.1, and recorded traces in its setting. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { poolsTaskIds, rolloutpipeJob, rolloutpipeWorkload } from '../../src/sim/pools/presets.ts';
import { readTrace } from '../../src/sim/trace/read.ts';
import { tracedWorkload } from '../../src/sim/workload/traced.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import type { RoundWork, Setting } from './loop.ts';

const { cost, engines, responsesPerPrompt, globalBatchSamples, verifier } = rolloutpipeJob();

/** Engine, trainer and verifier of RolloutPipe §5.1, as the simulator has them. */
export const paperSetting: Setting = {
  engine: cost,
  engines,
  responsesPerPrompt,
  groupsPerUpdate: globalBatchSamples / responsesPerPrompt,
  trainSecondsPerToken: cost.trainSecondsPerToken,
  trainSecondsPerGroup: 0,
  stepSeconds: cost.trainBaseSeconds,
  verifierSeconds: verifier.medianSeconds,
};

/** The length limit of traces: longer than nearly all that was recorded. */
const traceCapTokens = 32_768;

/** Lengths and costs of a case, without its number of groups. */
export interface Case {
  readonly name: string;
  readonly setting: Setting;
  round(groups: number, seed: number, round: number): RoundWork;
}

/** A case of a workload for every seed. */
function caseOf(name: string, workload: (seed: number) => Workload): Case {
  const workloads = new Map<number, Workload>();
  return {
    name,
    setting: paperSetting,
    round: (groups, seed, round) => {
      const known = workloads.get(seed) ?? workload(seed);
      workloads.set(seed, known);
      const prompts = Array.from({ length: groups }, (_, group) => known.prompt(round * groups + group));
      return {
        promptTokens: prompts.map((prompt) => prompt.promptTokens),
        lengths: prompts.map((prompt) => Array.from({ length: responsesPerPrompt }, (_, k) => prompt.sample(k).tokens)),
      };
    },
  };
}

/** The four tasks of RolloutPipe §5.1. */
export const paperCases: readonly Case[] = poolsTaskIds.map((task) =>
  caseOf(rolloutpipeWorkload(task, 1).name, (seed) => rolloutpipeWorkload(task, seed)),
);

/** A recorded trace, resampled as the simulator does, with engine and trainer of the paper. */
export function traceCase(file: string): Case {
  const trace = readTrace(readFileSync(file, 'utf8'), basename(file));
  if (trace.kind !== 'prompts') throw new Error(`${file}: single responses are needed, not quantiles`);
  const name = basename(file, '.jsonl');
  const { prompts } = trace;
  return caseOf(name, (seed) => tracedWorkload({ name, prompts, capTokens: traceCapTokens, seed }));
}
