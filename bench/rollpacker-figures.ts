/**
 * Figures of RollPacker that need more than rollouts: preemptions (Figure 7), GPU scaling (Tables 3 and 4), adaptive
 * timeouts (Figure 14c) and the ablation (Table 2, Figure 11c), all of the job Qwen2.5-7B/8k but Figure 7. They are
 * printed by bench/rollpacker.ts.
 */
import { deriveCostModel } from '../src/sim/cost-model.ts';
import { simulate } from '../src/sim/host/driver.ts';
import { defineJob, type Job } from '../src/sim/host/job.ts';
import { type RollpackerSwitches, rollpackerScheduler, rungs } from '../src/sim/host/ladder.ts';
import { jobPreset, rollpackerWorkload } from '../src/sim/presets.ts';
import type { RunResult } from '../src/sim/result.ts';
import { interpolated, longTailQuantile, marginalWorkload } from '../src/sim/workload/marginal.ts';
import type { Workload } from '../src/sim/workload/workload.ts';

const seven = jobPreset('qwen2.5-7b-8k');
const steps = 20;
const none = rungs.find((one) => one.id === 'baseline')!.switches;
const on = rungs.find((one) => one.id === 'stream-training')!.switches;

function run(job: Job, switches: RollpackerSwitches, workload: Workload, seed: number): RunResult {
  return simulate(job, rollpackerScheduler(job, 'x', switches), workload, {
    prompts: steps * job.promptsPerRound,
    seed,
    timeline: false,
  });
}

/** Mean over the steps of a kind. */
function mean(result: RunResult, kind: 'short' | 'long', value: (step: RunResult['steps'][number]) => number): number {
  const chosen = result.steps.filter((step) => step.kind === kind);
  return chosen.reduce((sum, step) => sum + value(step), 0) / chosen.length;
}
const stepSeconds = (step: RunResult['steps'][number]): number => step.endSeconds - step.startSeconds;

/** One figure of the paper beside ours. */
export interface Figure {
  readonly id: string;
  readonly what: string;
  readonly paper: number;
  readonly ours: number;
  /** Share that ours may be off. */
  readonly tolerance: number;
}

/** Table 2 and Figure 11c: the ablation of the 7B job. */
export function ablation(seed: number): Figure[] {
  const workload = rollpackerWorkload(seven.capTokens, seed);
  const baseline = run(seven.job, none, workload, seed);
  const tail = run(seven.job, { ...none, tailBatching: true }, workload, seed);
  const planner = run(seven.job, { ...on, streamTraining: false }, workload, seed);
  const all = run(seven.job, on, workload, seed);
  const speedup = (one: RunResult): number => baseline.totalSeconds / one.totalSeconds;
  const figure = (what: string, paper: number, ours: number): Figure => ({
    id: 'C8',
    what,
    paper,
    ours,
    tolerance: 0.12,
  });
  return [
    figure('+ tail batching', 1.3, speedup(tail)),
    figure('+ rewards, + planner', 2.01, speedup(planner)),
    figure('+ stream trainer', 2.03, speedup(all)),
    figure('short step, s', 106, mean(all, 'short', stepSeconds)),
    figure('long step, s', 129, mean(all, 'long', stepSeconds)),
  ];
}

const rules = { ...seven.job, rewards: { ...seven.job.rewards!, shares: { rule: 1, sandbox: 0, judge: 0 } } };
/** Seconds of a long step of mathematical prompts, without adaptive TP. */
export const scaled = (switches: RollpackerSwitches, seed: number): number =>
  mean(
    run(rules, { ...on, adaptiveTp: false, ...switches }, rollpackerWorkload(seven.capTokens, seed), seed),
    'long',
    stepSeconds,
  );

/** Table 3: long rounds of mathematical prompts, with GPUs released at fixed fractions and adaptively. */
export function gpuScaling(seed: number): Figure[] {
  const figure = (what: string, paper: number, ours: number): Figure => ({
    id: 'C6',
    what,
    paper,
    ours,
    tolerance: 0.12,
  });
  return [
    figure('without, s', 124.2, scaled({ streamTraining: false }, seed)),
    figure('at 20 %, s', 122.7, scaled({ scaleDownTrigger: 0.2 }, seed)),
    figure('at 30 %, s', 118.2, scaled({ scaleDownTrigger: 0.3 }, seed)),
    figure('at 40 %, s', 119.8, scaled({ scaleDownTrigger: 0.4 }, seed)),
    figure('adaptive, s', 115.2, scaled({}, seed)),
  ];
}

/** Figure 14c: code only, with sandboxes enough that a round waits for its slowest run and hardly for a place. */
export function sandboxes(seed: number): Figure[] {
  const shares = { rule: 0, sandbox: 1, judge: 0 };
  const job = { ...seven.job, rewards: { ...seven.job.rewards!, shares, workers: { rule: 1, sandbox: 56, judge: 1 } } };
  const result = run(
    job,
    { ...on, adaptiveTp: false, streamTraining: false, adaptiveTimeout: false },
    rollpackerWorkload(seven.capTokens, seed),
    seed,
  );
  const ours = mean(result, 'short', (step) => step.rolloutSeconds + step.rewardSeconds);
  return [{ id: 'C7', what: 'rollout + reward at 30 s, s', paper: 55, ours, tolerance: 0.15 }];
}

/** Qwen3-8B/32k on eight GPUs, with the lengths of a reasoning model. */
function eight(seed: number): { job: Job; workload: Workload } {
  const shape = {
    billionParameters: 8.2,
    layers: 36,
    kvHeads: 8,
    headDimension: 128,
    tensorParallel: 1,
    hostSeconds: 2.8e-3,
  };
  const gpu = { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 };
  const cost = { ...deriveCostModel({ ...shape, gpu }), fixedRolloutSeconds: 2 };
  const hardware = {
    kvHeads: 8,
    modelBytes: 16.4e9,
    gpuMemoryBytes: 80e9,
    kvBytesPerToken: 2 * 36 * 8 * 128 * 2,
    maxResponseTokens: 32_768,
    costs: [{ tp: 1, cost }],
    trainingReplicas: 4,
  };
  const rewards = { workers: { rule: 64, sandbox: 1, judge: 1 }, shares: { rule: 1, sandbox: 0, judge: 0 } };
  const batch = { promptsPerRound: 128, responsesPerPrompt: 8 };
  const lengths = { medianTokens: 10_000, sigma: 0.4, tailWeight: 0, tailStartTokens: 2000, tailExponent: 1 };
  const workload = marginalWorkload({
    name: 'reasoning',
    source: 'lognormal, median 10,000 tokens',
    responseTokens: longTailQuantile(lengths),
    promptTokens: interpolated([40, 80, 110, 150, 200, 280, 400, 700, 1200]),
    correlation: 0.4,
    capTokens: 32_768,
    seed,
  });
  return {
    job: defineJob({ name: 'Qwen3-8B, 32k, 8 × H800', engines: 8, ...batch, cost, hardware, rewards }),
    workload,
  };
}

/** Figure 7 at TP 1: preemptions of short and long rounds. */
export function preemptions(seed: number): Figure[] {
  const { job, workload } = eight(seed);
  const result = run(job, { ...none, tailBatching: true }, workload, seed);
  const of = (kind: 'short' | 'long'): number => mean(result, kind, (step) => step.preemptions);
  const seconds = (kind: 'short' | 'long'): number => mean(result, kind, (step) => step.rolloutSeconds);
  return [
    {
      id: 'C5',
      what: 'preemptions, short ÷ long',
      paper: 5199 / 2900,
      ours: of('short') / of('long'),
      tolerance: 0.15,
    },
    { id: 'C5', what: 'rollout, short, s', paper: 1029, ours: seconds('short'), tolerance: 0.15 },
    { id: 'C5', what: 'rollout, long, s', paper: 1172, ours: seconds('long'), tolerance: 0.15 },
  ];
}

/** All figures, from one seed. */
export const figures = (seed: number): Figure[] => [
  ...preemptions(seed),
  ...gpuScaling(seed),
  ...sandboxes(seed),
  ...ablation(seed),
];
