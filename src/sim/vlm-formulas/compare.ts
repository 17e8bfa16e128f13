/** Compares several schedulers on the same batches. */

import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { meansOf, mostOf, sumOf } from '../comparison/metrics.ts';
import { pictureOf } from './picture.ts';
import type { PlanPicture, VlmComparison, VlmSchedulerResult } from './result.ts';
import { placeBatch, type VlmScheduler, vlmSchedulers } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import { simulateStep, type VlmStep } from './step.ts';
import { batchOf, lengthOf, type VlmSample, type VlmWorkload } from './workload/sample.ts';

/** Options of a comparison of VLM schedulers. */
export interface VlmCompareOptions {
  /** GPUs, model and cost. */
  readonly job: VlmJob;
  /** The samples of each step. */
  readonly workload: VlmWorkload;
  /** Number of steps, 1 to 10,000; by default 5. */
  readonly steps?: number;
  /** Schedulers, the baseline first; by default {@link vlmSchedulers}. */
  readonly schedulers?: readonly VlmScheduler[];
  /**
   * Called for every plan; must return the result of `plan`. A host can store plans here and use them again in later comparisons.
   * `step` is the index of the batch, from 0.
   */
  readonly place?: (scheduler: VlmScheduler, step: number, plan: () => FlexUlyssesPlan) => FlexUlyssesPlan;
}

const stepCount = z.int().positive().max(10_000);

interface Run {
  readonly scheduler: VlmScheduler;
  readonly steps: readonly VlmStep[];
  readonly picture: PlanPicture;
}

type Batches = readonly (readonly VlmSample[])[];

function run(scheduler: VlmScheduler, batches: Batches, plans: readonly FlexUlyssesPlan[], job: VlmJob): Run {
  const planned = batches.map((batch, step) => simulateStep(scheduler, batch, job, plans[step]));
  const { plan, loads } = planned[0]!;
  const picture = pictureOf(plan, batches[0]!, loads, job, scheduler.placement);
  return { scheduler, steps: planned.map((one) => one.step), picture };
}

function summary(
  { scheduler, steps, picture }: Run,
  { steps: baseline }: Run,
  { gpus, batchSequences }: VlmJob,
): VlmSchedulerResult {
  const loadings = steps.map(({ loading }) => loading);
  const { tokens, sharded, gpuSeconds, stepSeconds } = meansOf(steps, 'tokens', 'sharded', 'gpuSeconds', 'stepSeconds');
  const load = meansOf(loadings, 'seconds', 'exposedSeconds');
  const found = new Set(steps.flatMap((one) => one.exceeded));
  return {
    scheduler: scheduler.id,
    label: scheduler.label,
    placement: scheduler.placement,
    loadSeconds: load.seconds,
    exposedLoadSeconds: load.exposedSeconds,
    ...meansOf(steps, 'rolloutSeconds', 'oldSeconds', 'referenceSeconds', 'updateSeconds'),
    gpuSeconds,
    stepSeconds,
    throughput: tokens / gpus / stepSeconds,
    throughputWithoutLoading: tokens / gpus / gpuSeconds,
    speedup: sumOf(baseline, 'stepSeconds') / sumOf(steps, 'stepSeconds'),
    speedupWithoutLoading: sumOf(baseline, 'gpuSeconds') / sumOf(steps, 'gpuSeconds'),
    ...meansOf(steps, 'balance'),
    shardedShare: sharded / batchSequences,
    ...meansOf(steps, 'sentTokens', 'sentBytes', 'movedBytes'),
    controllerBytes: mostOf(loadings, 'controllerBytes'),
    nodeBytes: mostOf(loadings, 'nodeBytes'),
    deviceBytes: mostOf(steps, 'deviceBytes'),
    exceeded: (['device', 'controller', 'node'] as const).filter((one) => found.has(one)),
    steps,
    picture,
  };
}

/** Fewest GPUs of any row in FlexRL's Table 2. */
const fewestFitted = 32;

function notesOf(results: readonly VlmSchedulerResult[], visualShare: number, { gpus }: VlmJob): string[] {
  const [baseline] = results;
  const notes = [
    'Constants were fitted to some rows of FlexRL Table 2 (7B and 32B on H800) and are extrapolated elsewhere.',
  ];
  if (visualShare === 0) notes.push('There is nothing to see in this workload: loading takes no time.');
  else {
    notes.push(
      'Most of what centralized loading costs is the wait for visual inputs in every stage, not uneven attention.',
    );
    if (gpus < fewestFitted) {
      notes.push(
        `All of those rows have at least ${fewestFitted} GPUs: on ${gpus}, those waits are the least certain part.`,
      );
    }
  }
  const short = results.filter((one) => one.exceeded.length > 0);
  for (const { label, exceeded } of short) {
    notes.push(
      `${label} would not run: too little memory of ${exceeded.join(', ')}; its times are what it would take.`,
    );
  }
  if (baseline?.exceeded.length)
    notes.push('The baseline would not run, so that speedups have no meaning of their own.');
  return notes;
}

/**
 * Compares schedulers on the same batches.
 *
 * @throws PolicyError `invalid_input` for steps out of range, and errors of the planner
 */
export function compareVlm(options: VlmCompareOptions): VlmComparison {
  const { job, workload, schedulers = vlmSchedulers, place = (_one, _step, plan) => plan() } = options;
  const steps = parse(stepCount, options.steps ?? 5, 'invalid_input', 'steps');
  const batches = Array.from({ length: steps }, (_, step) => batchOf(workload, step, job.batchSequences));
  const all = batches.flat();
  const tokens = sumOf(all, lengthOf);
  const visualShare = sumOf(all, 'visualTokens') / Math.max(1, tokens);
  // Schedulers that differ only in loading share their plans.
  const known = new Map<string, FlexUlyssesPlan[]>();
  const runs = schedulers.map((one) => {
    const key = `${one.placement} ${one.degree}`;
    const plans = known.get(key) ?? batches.map((batch, step) => place(one, step, () => placeBatch(one, batch, job)));
    known.set(key, plans);
    return run(one, batches, plans, job);
  });
  const results = runs.map((one) => summary(one, runs[0]!, job));
  return {
    workload: {
      name: workload.name,
      source: workload.source,
      meanTokens: tokens / all.length,
      longestTokens: mostOf(all, lengthOf),
      visualShare,
    },
    job,
    batch: batches[0]!,
    schedulers: results,
    notes: notesOf(results, visualShare, job),
  };
}
