/** RollPacker's judge: Qwen2.5-7B-Instruct beside an actor on an H800. docs/calibration.md lists the assumptions. */

import { refuse } from '../../errors.ts';
import type { JudgeOffloadSettings } from '../../planners/judge-offload/index.ts';
import type { Job } from '../colocated/job.ts';
import type { JudgeSettings } from '../rewards/judge-settings.ts';
import { bytesPerValue } from './cost-model.ts';

const layers = 28;
const layerParameters = 233e6;
const otherParameters = 1.09e9;
const hiddenSize = 3584;
/** Dense bf16 speed, multiplied by the share that long sequences reach. */
const flops = 989e12 * 0.5;
/** Seconds of a judgement of an empty response: prompt of the judge, launches and verdict. */
const judgementSeconds = 0.25;

/**
 * Returns the judge as an input of the planner `judge-offload`. One judgement is one pass.
 *
 * @param sequenceTokens - the longest response
 */
export function judge7b(sequenceTokens: number): JudgeOffloadSettings {
  return {
    layers,
    layerBytes: layerParameters * bytesPerValue,
    fixedBytes: otherParameters * bytesPerValue,
    sequenceTokens,
    // Activations of one layer, and keys and values of all layers.
    activationBytes: { base: 0.2e9, perToken: 180e3 },
    layerSeconds: {
      base: judgementSeconds / layers,
      perToken: (2 * layerParameters) / flops,
      perTokenSquared: (2 * hiddenSize) / flops,
    },
    memoryBytes: 16e9,
    pcieBytesPerSecond: 25e9,
    transferOverheadSeconds: 0,
    actorSmShare: 0.7,
    judgeSmShare: 0.3,
    latencyTolerance: 0,
  };
}

/** Share of the GPUs that jobs often reserve for a judge, according to RollPacker §4.3. */
const dedicatedShare = 0.25;

/**
 * Returns the same job with a 7B judge on GPUs instead of plain workers: beside the actor on all GPUs, or on a quarter of the
 * engines (at least one), which are removed from the job.
 *
 * @param sequenceTokens - the longest response
 * @throws PolicyError `infeasible` for a job without rewards, or with too few engines
 */
export function withJudge(
  job: Job,
  placement: JudgeSettings['placement'],
  sequenceTokens: number,
  settings: Partial<Pick<JudgeSettings, 'slots' | 'withoutOffload' | 'pipelined'>> = {},
): Job {
  if (job.rewards === undefined) {
    refuse('infeasible', 'rewards', 'a job with rewards', job.name);
  }
  const taken = placement === 'dedicated' ? Math.max(1, Math.round(job.engines * dedicatedShare)) : 0;
  if (taken >= job.engines) {
    const expected = 'two engines or more: a dedicated judge takes the GPUs of one';
    refuse('infeasible', 'engines', expected, job.engines);
  }
  const how = { slots: 4, withoutOffload: 'after', pipelined: true, ...settings } as const;
  const gpus = Math.max(1, taken * job.cost.gpus);
  const judge = { ...how, placement, gpus, model: judge7b(sequenceTokens) };
  return { ...job, engines: job.engines - taken, rewards: { ...job.rewards, judge } };
}
