/**
 * Shows what a wrong projection costs: RollPacker's jobs in the simulator, with GPUs of less and less memory, without streaming and with
 * projections as they are and too low or too high: seconds in all, against no streaming, preemptions a round, and the share of rounds with
 * a release. `npx tsx bench/scale-down/worth.ts [seeds] [other sources]`, by default 3; with other sources, theirs as well.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Ablation from '../../src/sim/colocated/ablation.ts';
import type * as Driver from '../../src/sim/colocated/driver.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import { type JobPresetId, jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { mean } from '../support.ts';
import { copyWith } from './copies.ts';

const [seedCount = '3', other] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const rounds = 20;

const times = (factor: number): string =>
  copyWith(`times-${factor}`, [
    ['plan.ts', 'projection.peak(there[index]!, deviations)', `${factor} * projection.peak(there[index]!, deviations)`],
    ['plan.ts', 'projection.expected(requests)', `${factor} * projection.expected(requests)`],
  ]);

/** A job on GPUs with a share of their memory. */
function onLess(job: Job, share: number): Job {
  const { gpuMemoryBytes, memoryUtilization, modelBytes } = job.hardware!;
  const free = (tp: number, bytes: number): number => tp * bytes * memoryUtilization - modelBytes;
  const less = <T extends { readonly gpus: number; readonly kvCapacityTokens: number }>(cost: T): T => {
    const kept = free(cost.gpus, share * gpuMemoryBytes) / free(cost.gpus, gpuMemoryBytes);
    return { ...cost, kvCapacityTokens: Math.floor(cost.kvCapacityTokens * kept) };
  };
  const costs = job.hardware!.costs.map(({ tp, cost }) => ({ tp, cost: less(cost) }));
  return {
    ...job,
    cost: less(job.cost),
    hardware: { ...job.hardware!, gpuMemoryBytes: share * gpuMemoryBytes, costs },
  };
}

/** Runs of a job: seconds, preemptions a round, and the share of rounds with a release. */
async function runsOf(sources: string, job: Job, capTokens: number, streamTraining: boolean) {
  const load = (path: string) => import(pathToFileURL(resolve(sources, path)).href);
  const { simulate }: typeof Driver = await load('sim/colocated/driver.ts');
  const { rollpackerScheduler }: typeof Ablation = await load('sim/colocated/ablation.ts');
  const results = seeds.map((seed) => {
    let releases = 0;
    const scheduler = rollpackerScheduler(job, 'x', {
      tailBatching: true,
      composition: false,
      asyncReward: true,
      adaptiveTimeout: true,
      adaptiveTp: false,
      streamTraining,
    });
    const listening: typeof scheduler = {
      ...scheduler,
      create: (options) => {
        const policy = scheduler.create(options);
        const send = (event: Parameters<typeof policy.send>[0]) => {
          const decisions = policy.send(event);
          releases += decisions.filter(({ type }) => type === 'gpus.release').length;
          return decisions;
        };
        return { id: policy.id, takes: (type) => policy.takes?.(type) ?? true, send };
      },
    };
    const prompts = rounds * job.promptsPerRound;
    const { totalSeconds, steps } = simulate(job, listening, rollpackerWorkload(capTokens, seed), {
      prompts,
      seed,
      timeline: false,
    });
    return { totalSeconds, preemptions: mean(steps.map((one) => one.preemptions)), released: releases / steps.length };
  });
  return {
    seconds: mean(results.map((one) => one.totalSeconds)),
    preemptions: mean(results.map((one) => one.preemptions)),
    released: mean(results.map((one) => one.released)),
  };
}

const variants: [name: string, sources: string][] = [
  ['projected', 'src'],
  ...(other === undefined ? [] : [['other sources', other] as [string, string]]),
  ...[0.6, 0.8, 1.25, 1.6].map((factor): [string, string] => [`times ${factor}`, times(factor)]),
];
const cases: [JobPresetId, number][] = [
  ['qwen2.5-7b-8k', 0.35],
  ['qwen2.5-14b-16k', 1],
  ['qwen2.5-14b-16k', 0.7],
  ['qwen2.5-32b-32k', 1],
  ['qwen2.5-32b-32k', 0.75],
];

console.log('| Job, share of its memory | Projection | Seconds | Preemptions a round | Rounds with a release |');
console.log('| --- | --- | --- | --- | --- |');
for (const [id, share] of cases) {
  const { job: whole, capTokens } = jobPreset(id);
  const job = onLess(whole, share);
  const without = await runsOf('src', job, capTokens, false);
  console.log(`| ${id}, ${share} | no release | 1.000 | ${without.preemptions.toFixed(1)} | 0 % |`);
  for (const [name, sources] of variants) {
    const { seconds, preemptions, released } = await runsOf(sources, job, capTokens, true);
    const cells = [(seconds / without.seconds).toFixed(3), preemptions.toFixed(1), `${(100 * released).toFixed(0)} %`];
    console.log(`| ${id}, ${share} | ${name} | ${cells.join(' | ')} |`);
  }
}
