/** Ours for the rows of RollPacker, a mean over seeds each. */
import { judgeOffload, runPlanner } from '../../src/index.ts';
import { oneStepOffAblation, withOneStepOff } from '../../src/sim/colocated/one-step-off.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import type { StepResult } from '../../src/sim/comparison/result.ts';
import { judge7b, withJudge } from '../../src/sim/models/judge-preset.ts';
import { type JobPresetId, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { mean } from '../support.ts';
import { meanStep, preset, rolloutOf, rolloutSeconds, runOf, type Setting, stepSeconds, variant } from './runs.ts';
import { eight, growing, onEight, scaledTo } from './settings.ts';

const ids: Readonly<Record<'7b' | '14b' | '32b', JobPresetId>> = {
  '7b': 'qwen2.5-7b-8k',
  '14b': 'qwen2.5-14b-16k',
  '32b': 'qwen2.5-32b-32k',
};
const models = Object.keys(ids) as (keyof typeof ids)[];
const factors = [1.125, 1.25, 1.5];
const [off, tail, rewards, planner, all, rlhfuse] = (
  ['baseline', 'tail-batching', 'rewards', 'adaptive-tp', 'stream-training', 'rlhfuse'] as const
).map(variant);

/** Values by the id of their row, each computed when it is asked for. */
export function measureRollpacker(seeds: readonly number[]): Map<string, () => number> {
  const values = new Map<string, () => number>();
  const over = (of: (seed: number) => number) => () => mean(seeds.map(of));
  const set = (id: string, of: (seed: number) => number): void => void values.set(id, over(of));
  const total = (setting: Setting, switches: object, seed: number): number =>
    runOf(setting, switches, seed).totalSeconds;
  const speedup = (setting: Setting, from: object, to: object) => (seed: number) =>
    total(setting, from, seed) / total(setting, to, seed);

  lengths(set);
  const code = preset(ids['14b'], 'sandbox');
  for (const [task, kind] of [
    ['math', 'rule'],
    ['code', 'sandbox'],
    ['judge', 'judge'],
  ] as const) {
    const setting = preset(ids['14b'], kind);
    for (const [part, seconds] of Object.entries(parts)) {
      set(`share-${task}-${part}`, (seed) => {
        const run = runOf(setting, off!, seed);
        const sum = mean(Object.values(parts).map((one) => meanStep(run, one)));
        return meanStep(run, seconds) / (sum * 3);
      });
    }
  }
  set('longest-short', (seed) => {
    const most = Math.max(...runOf(code, off!, seed).steps.map((step) => step.maxResponseTokens));
    const short = runOf(code, tail!, seed).steps.filter(({ kind }) => kind === 'short');
    return most / Math.min(...short.slice(0, 4).map((step) => step.maxResponseTokens));
  });
  set('tail-code-14b', speedup(code, off!, tail!));

  const bar = (model: keyof typeof ids, promptSpeculation: number, responseSpeculation: number): number =>
    rolloutOf(ids[model], { promptSpeculation, responseSpeculation }, seeds);
  const bars = new Map<string, number>();
  const barOf = (model: keyof typeof ids, p: number, r: number): number => {
    const key = `${model} ${p} ${r}`;
    const value = bars.get(key) ?? bar(model, p, r);
    bars.set(key, value);
    return value;
  };
  for (const model of models) {
    values.set(`rollout-${model}`, () => barOf(model, 1, 1));
    for (const factor of factors) {
      values.set(`rollout-${model}-r${factor}`, () => barOf(model, 1, factor));
      values.set(`rollout-${model}-p${factor}`, () => barOf(model, factor, 1));
    }
  }
  const most = (of: (model: keyof typeof ids) => number): number => Math.max(...models.map(of));
  values.set('joint-32b', () => barOf('32b', 1, 1) / barOf('32b', 1.25, 1.25));
  const best = (of: (factor: number) => number): number => Math.min(...factors.map(of));
  values.set('joint-over-r', () => most((model) => best((r) => barOf(model, 1, r)) / barOf(model, 1.25, 1.25)));
  values.set('joint-over-p', () => most((model) => best((p) => barOf(model, p, 1)) / barOf(model, 1.25, 1.25)));
  values.set('p1.5-over-p1.25-32b', () => barOf('32b', 1.5, 1) / barOf('32b', 1.25, 1));
  set('short-rollout-32b', (seed) => {
    const setting = preset(ids['32b']);
    return (
      meanStep(runOf(setting, off!, seed), rolloutSeconds) /
      meanStep(runOf(setting, tail!, seed), rolloutSeconds, 'short')
    );
  });

  const atTp = (tp: number, seed: number) => runOf(eight(tp), tail!, seed);
  const preemptions = (step: StepResult): number => step.preemptions;
  set(
    'preemptions',
    (seed) => meanStep(atTp(1, seed), preemptions, 'short') / meanStep(atTp(1, seed), preemptions, 'long'),
  );
  for (const kind of ['short', 'long'] as const) {
    set(`preempted-${kind}`, (seed) => meanStep(atTp(1, seed), rolloutSeconds, kind));
    set(
      `preemptions-tp2-${kind}`,
      (seed) => meanStep(atTp(2, seed), preemptions, kind) / meanStep(atTp(1, seed), preemptions, kind),
    );
  }
  set(
    'preempted-tp2-short',
    (seed) => meanStep(atTp(2, seed), rolloutSeconds, 'short') / meanStep(atTp(1, seed), rolloutSeconds, 'short'),
  );

  for (const model of models) {
    const setting = preset(ids[model]);
    set(`tail-${model}`, speedup(setting, off!, tail!));
    set(`rewards-${model}`, speedup(setting, off!, rewards!));
    set(`planner-${model}`, speedup(setting, off!, planner!));
    set(`streaming-${model}`, speedup(setting, off!, all!));
    set(`over-rlhfuse-${model}`, speedup(setting, rlhfuse!, all!));
    set(`async-rewards-${model}`, speedup(setting, tail!, rewards!));
    const short = (seed: number): number => meanStep(runOf(setting, all!, seed), stepSeconds, 'short');
    set(`short-over-verl-${model}`, (seed) => meanStep(runOf(setting, off!, seed), stepSeconds) / short(seed));
    set(`short-over-rlhfuse-${model}`, (seed) => meanStep(runOf(setting, rlhfuse!, seed), stepSeconds) / short(seed));
  }
  for (const kind of ['short', 'long'] as const) {
    set(`step-${kind}-7b`, (seed) => meanStep(runOf(preset(ids['7b']), all!, seed), stepSeconds, kind));
  }

  const raised = (seed: number, tp: number): number => {
    const at = runOf(growing, { ...off, adaptiveTp: true }, seed).steps.findIndex((step) => (step.tp ?? 1) >= tp);
    return at < 0 ? growing.steps! + 1 : at + 1;
  };
  set('planner-first-raise', (seed) => raised(seed, 2));
  set('planner-second-raise', (seed) => raised(seed, 4));
  set(
    'planner-speedup',
    (seed) =>
      runOf(growing, off!, seed).rolloutSeconds / runOf(growing, { ...off, adaptiveTp: true }, seed).rolloutSeconds,
  );
  const planned = { ...tail, adaptiveTp: true };
  set(
    'planner-preemptions',
    (seed) =>
      meanStep(runOf(onEight, planned, seed), preemptions, 'short') /
      meanStep(runOf(onEight, tail!, seed), preemptions, 'short'),
  );
  set(
    'planner-short',
    (seed) =>
      meanStep(runOf(onEight, tail!, seed), rolloutSeconds, 'short') /
      meanStep(runOf(onEight, planned, seed), rolloutSeconds, 'short'),
  );

  judges(values, over);
  sandboxes(set);
  gpuScaling(set);
  values.set('one-step-off', () => oneStepOff(seeds));
  for (const [batch, times] of [
    ['256', 2],
    ['512', 4],
  ] as const)
    set(`scale-${batch}`, speedup(scaledTo(times), off!, all!));
  set('scale-doubling', (seed) => {
    const rate = (times: number): number => times / total(scaledTo(times), all!, seed);
    return Math.sqrt(rate(4) / rate(1));
  });
  return values;
}

const parts = {
  rollout: rolloutSeconds,
  reward: (step: StepResult) => step.rewardSeconds,
  training: (step: StepResult) => step.referenceSeconds + step.trainSeconds,
};

type Set = (id: string, of: (seed: number) => number) => void;

function lengths(set: Set): void {
  const sorted = new Map<number, Float64Array>();
  const of = (seed: number): Float64Array => {
    const workload = rollpackerWorkload(16_384, seed);
    const known =
      sorted.get(seed) ??
      Float64Array.from({ length: 20_000 }, (_, index) => workload.prompt(index >> 3).sample(index & 7).tokens).sort();
    sorted.set(seed, known);
    return known;
  };
  const above =
    (tokens: number) =>
    (seed: number): number =>
      of(seed).filter((one) => one > tokens).length / of(seed).length;
  set('lengths-p75', (seed) => of(seed)[15_000]!);
  set('lengths-longest', (seed) => of(seed).at(-1)! / of(seed)[10_000]!);
  set('lengths-over-2k', above(2000));
  set('lengths-over-4k', above(4000));
}

function judges(values: Map<string, () => number>, over: (of: (seed: number) => number) => () => number): void {
  const { job, workload } = preset(ids['7b'], 'judge');
  const capTokens = 8192;
  const mps: Setting = { job: withJudge(job, 'colocated', capTokens), workload };
  const resident = withJudge(job, 'colocated', capTokens, { withoutOffload: 'resident' });
  const without: Setting = { job: resident, workload };
  const ratio = (kind: StepResult['kind']) =>
    over(
      (seed) =>
        meanStep(runOf(without, { ...all, judgeOffload: false }, seed), stepSeconds, kind) /
        meanStep(runOf(mps, all!, seed), stepSeconds, kind),
    )();
  values.set('mps', () => Math.max(ratio('short'), ratio('long')));
  values.set('judge-pipelined', () => {
    const { sequentialSeconds, pipelinedSeconds } = runPlanner(judgeOffload, { ...judge7b(32_768), memoryBytes: 16e9 });
    return sequentialSeconds / pipelinedSeconds;
  });
}

/** Code only, with sandboxes enough that a round waits for its slowest run and hardly for a place. */
function sandboxes(set: Set): void {
  const { job, workload } = preset(ids['7b'], 'sandbox');
  const setting: Setting = {
    job: { ...job, rewards: { ...job.rewards!, workers: { rule: 1, sandbox: 56, judge: 1 } } },
    workload,
  };
  const seconds = (step: StepResult): number => step.rolloutSeconds + step.rewardSeconds;
  const fixed = { ...rewards, adaptiveTimeout: false };
  set('timeout-fixed', (seed) => meanStep(runOf(setting, fixed, seed), seconds, 'short'));
  set('timeout-adaptive', (seed) => {
    const adaptive = runOf(setting, rewards!, seed).steps;
    const pairs = runOf(setting, fixed, seed).steps.slice(0, adaptive.length);
    return mean(pairs.map((step, index) => seconds(step) / seconds(adaptive[index]!)));
  });
}

/** Long rounds of mathematical prompts, with a fixed TP. */
function gpuScaling(set: Set): void {
  const setting = preset(ids['7b'], 'rule');
  const long =
    (switches: object) =>
    (seed: number): number =>
      meanStep(runOf(setting, { ...all, adaptiveTp: false, ...switches }, seed), stepSeconds, 'long');
  set('scaling-off', long({ streamTraining: false }));
  set('scaling-adaptive', long({}));
  for (const percent of [20, 30, 40]) set(`scaling-${percent}`, long({ scaleDownTrigger: percent / 100 }));
  for (const percent of [20, 30, 40, 50]) set(`fetch-${percent}`, long({ fetch: { once: percent / 100 } }));
}

function oneStepOff(seeds: readonly number[]): number {
  const { job: given, workload } = preset(ids['7b']);
  const job = withOneStepOff({ ...given, promptsPerRound: 32 });
  const [baseline, ...others] = oneStepOffAblation(job);
  const { schedulers } = compare({
    job,
    workload,
    steps: 40,
    seeds,
    baseline: baseline!,
    schedulers: others.slice(-1),
    timeline: false,
  });
  return schedulers[1]!.speedup.value;
}
