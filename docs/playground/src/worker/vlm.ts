/** The vision-language step: bucketing, Ulysses with one degree, and FlexRL. */
import {
  compareVlm,
  defineVlmJob,
  fixedUlysses,
  flexrlScheduler,
  lengthOf,
  type VlmComparison,
  type VlmJob,
  verlBucketing,
  vlmModels,
} from 'rollflex/sim';
import { vlmData } from '../../../../src/sim/report/vlm-data.ts';
import type { VlmSettings } from '../settings/vlm.ts';
import type { Keep } from './keep.ts';
import type { Library } from './library.ts';
import type { LoadsData, Shown, ShownRow } from './messages.ts';
import { number, percent, seconds, times } from './text.ts';

/** The job that settings describe. Throws `PolicyError` for GPUs that do not fit the model. */
export const vlmJobOf = ({ m, gpu, g, b }: VlmSettings): VlmJob =>
  defineVlmJob({ model: m, gpu, gpus: g, batchSequences: b });

/** The baseline, Ulysses with the degree of the settings, and FlexRL. */
export const vlmSchedulersOf = ({ SP, ld }: VlmSettings) => [
  verlBucketing,
  fixedUlysses(Number(SP), ld),
  flexrlScheduler,
];

/** Simulates. There is one draw of the batches, and so one result. */
export function* simulateVlm(
  settings: VlmSettings,
  library: Library,
  keep: Keep,
): Generator<{ shown: Shown; seeds: number } | undefined> {
  const job = vlmJobOf(settings);
  const workload = library.vlm(settings);
  const { SP: _, ld: _loading, n: _steps, ...rest } = settings;
  const given = JSON.stringify([library.keyOf(settings.t), rest]);
  const schedulers = vlmSchedulersOf(settings);
  const comparison = compareVlm({
    job,
    workload,
    steps: settings.n,
    schedulers,
    place: ({ placement, degree }, step, plan) => keep.get(`${placement} ${degree} ${step} ${given}`, plan),
  });
  yield { shown: shownOf(comparison, job), seeds: 1 };
}

const gigabytes = (bytes: number): string => `${number(bytes / 1e9, bytes >= 1e10 ? 0 : 1)} GB`;

/** Seconds in which each GPU computes shards of sequences: what a plan is to make even. */
function loadsOf({ job, schedulers }: VlmComparison): LoadsData {
  return {
    devices: job.gpus,
    runs: schedulers.map(({ label, picture }) => {
      const all = new Array<number>(job.gpus).fill(0);
      for (const { device, activity, startSeconds, endSeconds } of picture.shards) {
        if (activity === 'shard') all[device]! += endSeconds - startSeconds;
      }
      return { label, seconds: all.map((one) => Math.round(one * 1e4) / 1e4) };
    }),
  };
}

function shownOf(comparison: VlmComparison, job: VlmJob): Shown {
  const { schedulers, workload, notes, batch } = comparison;
  const [baseline, , best] = schedulers;
  const rows = schedulers.map(
    (one): ShownRow => ({
      id: one.placement,
      label: one.label,
      cells: {
        speedup: times(one.speedup),
        kept: times(1),
        without: times(one.speedupWithoutLoading),
        step: seconds(one.stepSeconds),
        load: seconds(one.exposedLoadSeconds),
        balance: times(one.balance),
        sharded: percent(one.shardedShare),
        sent: gigabytes(one.sentBytes),
        memory: gigabytes(one.deviceBytes),
        exceeded: one.exceeded.length === 0 ? 'no' : one.exceeded.join(', '),
      },
    }),
  );
  const model = vlmModels.find((one) => one.id === job.model)!;
  return {
    headline: `FlexRL: ${times(best!.speedup)} as fast as veRL with bucketing, on the same tokens (1.00 ×).`,
    cost:
      `A step takes ${seconds(best!.stepSeconds)} instead of ${seconds(baseline!.stepSeconds)}; data loading holds it up for ` +
      `${seconds(best!.exposedLoadSeconds)} instead of ${seconds(baseline!.exposedLoadSeconds)}. Without loading it is ` +
      `${times(best!.speedupWithoutLoading)} as fast. The GPU with most attention work has ${times(best!.balance)} the mean ` +
      `instead of ${times(baseline!.balance)}.`,
    rows,
    charts: { kind: 'vlm', data: vlmData(comparison), loads: loadsOf(comparison) },
    facts: [
      `${workload.name}: ${workload.source}`,
      `simulated sequences mean ${number(workload.meanTokens, 0)}, longest ${number(workload.longestTokens, 0)} tokens; ` +
        `${percent(workload.visualShare)} of the tokens are visual`,
      `${model.label}, ${job.gpus} × ${job.gpu.toUpperCase()}, ${job.batchSequences} sequences a step`,
    ],
    notes,
    configs: [
      {
        kind: 'policy',
        id: 'flexrl',
        config: {
          devices: job.gpus,
          devicesPerNode: job.gpusPerNode,
          maxDegree: 8,
          attentionHeads: model.attentionHeads,
          kvHeads: model.kvHeads,
        },
      },
      {
        kind: 'planner',
        id: 'flex-ulysses',
        config: {
          lengths: batch.map(lengthOf),
          frames: batch.map((one) => one.frames),
          devices: job.gpus,
          devicesPerNode: job.gpusPerNode,
          maxDegree: 8,
          attentionHeads: model.attentionHeads,
          kvHeads: model.kvHeads,
        },
      },
    ],
  };
}
