/** The simulator of VLM steps over random batches: nothing is lost between a plan and its stages. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeOfSamples } from '../../src/sim/vlm-formulas/loading.ts';
import { pictureOf } from '../../src/sim/vlm-formulas/picture.ts';
import {
  fixedUlysses,
  flexrlScheduler,
  type VlmScheduler,
  verlBucketing,
} from '../../src/sim/vlm-formulas/scheduler.ts';
import { defineVlmJob, nodesOf, type VlmJob } from '../../src/sim/vlm-formulas/settings.ts';
import { stageSeconds, towerFirst } from '../../src/sim/vlm-formulas/stage.ts';
import { simulateStep } from '../../src/sim/vlm-formulas/step.ts';
import { lengthOf, type VlmSample } from '../../src/sim/vlm-formulas/workload/sample.ts';
import { image, text, video } from '../support/simulator/vlm.ts';

const sample = fc.oneof(
  fc.integer({ min: 0, max: 40_000 }).map(text),
  fc.integer({ min: 1, max: 300 }).map(video),
  fc.constant(image),
);
const batches = fc.array(sample, { minLength: 1, maxLength: 40 });
const jobs = fc.integer({ min: 1, max: 8 }).map((tenth) => defineVlmJob({ gpus: 8 * tenth }));
const schedulers = fc.constantFrom(
  verlBucketing,
  flexrlScheduler,
  fixedUlysses(2),
  fixedUlysses(8),
  fixedUlysses(4, 'shadow-loader'),
);
const total = (batch: readonly VlmSample[], value: (one: VlmSample) => number): number =>
  batch.reduce((sum, one) => sum + value(one), 0);

/** A batch, and the step that one of the schedulers plans for it. */
interface Stepped {
  readonly batch: readonly VlmSample[];
  readonly job: VlmJob;
  readonly scheduler: VlmScheduler;
  readonly planned: ReturnType<typeof simulateStep>;
}

/** Attention work, tokens and visual tokens of the devices are those of the batch. */
function checkLoads({ batch, scheduler, planned: { loads } }: Stepped): void {
  const sum = (key: 'squares' | 'tokens' | 'visualTokens') => loads.reduce((all, one) => all + one[key], 0);
  expect(sum('squares')).toBeCloseTo(
    total(batch, (one) => lengthOf(one) ** 2),
    0,
  );
  expect(sum('tokens')).toBeCloseTo(total(batch, lengthOf), 3);
  // Every rank of a fixed group encodes all frames of the group.
  const copies = scheduler.placement === 'ulysses' ? scheduler.degree : 1;
  expect(sum('visualTokens')).toBeCloseTo(copies * total(batch, (one) => one.visualTokens), 3);
}

/** A picture ends when the stage ends, and devices of a group wait for each other behind the vision tower at most. */
function checkPicture({ batch, job, scheduler, planned: { plan, loads } }: Stepped): void {
  const { seconds, shards } = pictureOf(plan, batch, loads, job, scheduler.placement);
  const stage = stageSeconds(loads, scheduler.placement, 'forward');
  expect(Math.abs(seconds - stage)).toBeLessThanOrEqual(1e-9 * (1 + stage));
  const busy = new Float64Array(job.gpus);
  const ends = new Float64Array(job.gpus);
  for (const { device, startSeconds, endSeconds } of shards) {
    busy[device]! += endSeconds - startSeconds;
    ends[device] = Math.max(ends[device]!, endSeconds);
  }
  // Only behind the vision tower, where FlexUlysses has frames of other devices.
  const tower = towerFirst(scheduler.placement) ? Math.max(...loads.map((one) => one.visionSeconds)) : 0;
  busy.forEach((one, device) => {
    const waited = tower === 0 || one === loads[device]!.visionSeconds ? 0 : tower - loads[device]!.visionSeconds;
    expect(Math.abs(one + waited - ends[device]!)).toBeLessThanOrEqual(1e-9 * (1 + stage));
  });
}

/** Every number of a step is finite and at least 0; the balance is at least 1, and a step at least its stages. */
function checkNumbers({ planned: { step } }: Stepped): void {
  const { exceeded: _, loading, ...numbers } = step;
  for (const one of [...Object.values(numbers), ...Object.values(loading)]) {
    expect(Number.isFinite(one)).toBe(true);
    expect(one).toBeGreaterThanOrEqual(0);
  }
  expect(step.balance).toBeGreaterThanOrEqual(1 - 1e-9);
  expect(step.stepSeconds).toBeGreaterThanOrEqual(step.gpuSeconds);
}

// Planning a step costs more than all checks of it.
test('the loads of a step are those of its batch, its picture fits its stage, and its numbers make sense', () => {
  fc.assert(
    fc.property(batches, jobs, schedulers, (batch, job, scheduler) => {
      const stepped = { batch, job, scheduler, planned: simulateStep(scheduler, batch, job) };
      checkLoads(stepped);
      checkPicture(stepped);
      checkNumbers(stepped);
    }),
    { endOnFailure: true },
  );
});

test('ShadowLoader: a node has at most its share and one more sample', () => {
  fc.assert(
    fc.property(batches, jobs, (batch, job) => {
      const nodes = nodeOfSamples(batch, job);
      const bytes = new Float64Array(nodesOf(job));
      nodes.forEach((node, index) => {
        bytes[node]! += batch[index]!.visualTokens;
      });
      const largest = Math.max(...batch.map((one) => one.visualTokens));
      const mean = total(batch, (one) => one.visualTokens) / bytes.length;
      expect(Math.max(...bytes)).toBeLessThanOrEqual(mean + largest);
    }),
    { endOnFailure: true },
  );
});
