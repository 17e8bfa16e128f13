/** One step of one scheduler: loading, rollout, old and reference log-probabilities, update. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { passes } from './constants.ts';
import { inputSeconds, movedBytes } from './inputs.ts';
import { type Loading, load } from './loading.ts';
import { deviceBytes, type Exceeded, exceeded } from './memory.ts';
import { vlmModel } from './models.ts';
import { rolloutSeconds } from './rollout.ts';
import { placeBatch, type VlmScheduler } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import { balanceOf, type DeviceLoad, deviceLoads, stageSeconds } from './stage.ts';
import { bytesPerSentToken } from './timing.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** Times of one step. */
export interface VlmStep {
  /** Tokens of the batch. */
  readonly tokens: number;
  /** Time and memory of data loading. */
  readonly loading: Loading;
  /** Seconds of the rollout. */
  readonly rolloutSeconds: number;
  /** Seconds for log-probabilities under the old policy. */
  readonly oldSeconds: number;
  /** Seconds for log-probabilities under the reference model. */
  readonly referenceSeconds: number;
  /** Seconds of gradients and the optimizer. */
  readonly updateSeconds: number;
  /** Seconds of rollout, old, reference and update together: a step in FlexRL's Table 2. */
  readonly gpuSeconds: number;
  /** Seconds of the step, including the seconds that loading adds. */
  readonly stepSeconds: number;
  /** Largest attention work of a device ÷ the mean. */
  readonly balance: number;
  /** Number of sequences that are sharded over several devices. */
  readonly sharded: number;
  /** Tokens that leave their device in the all-to-alls per layer. */
  readonly sentTokens: number;
  /** Bytes of all-to-alls over all layers and passes of the step. */
  readonly sentBytes: number;
  /** Bytes of visual inputs moved between hosts. */
  readonly movedBytes: number;
  /** Largest memory use of any device, in bytes. */
  readonly deviceBytes: number;
  /** Memory limits that the step exceeded. */
  readonly exceeded: readonly Exceeded[];
}

/** A step, with its plan. */
export interface PlannedStep {
  /** Times of the step. */
  readonly step: VlmStep;
  /** The plan of the step. */
  readonly plan: FlexUlyssesPlan;
  /** The load of each device. */
  readonly loads: readonly DeviceLoad[];
}

/**
 * Simulates a step. The previous step, behind which ShadowLoader hides the loading, is assumed to be as long as this one.
 *
 * @param plan - the placement of the sequences, if known: schedulers that differ only in loading have the same placement
 * @throws PolicyError errors of the planner
 */
export function simulateStep(
  scheduler: VlmScheduler,
  batch: readonly VlmSample[],
  job: VlmJob,
  plan: FlexUlyssesPlan = placeBatch(scheduler, batch, job),
): PlannedStep {
  const { placement, loader, degree } = scheduler;
  const loads = deviceLoads(plan, batch, job);
  const forward = stageSeconds(loads, placement, 'forward');
  const waits = (stage: Parameters<typeof inputSeconds>[1]) => inputSeconds(loader, stage, batch, job, degree);
  const seconds = {
    rolloutSeconds: waits('rollout') + rolloutSeconds(batch, job),
    oldSeconds: waits('old') + forward,
    referenceSeconds: waits('reference') + forward,
    updateSeconds: waits('update') + stageSeconds(loads, placement, 'update'),
  };
  const gpuSeconds = Object.values(seconds).reduce((sum, one) => sum + one, 0);
  const loading = load(loader, batch, job, gpuSeconds);
  const bytes = deviceBytes(plan, batch, job, placement);
  const model = vlmModel(job.model);
  const allToAlls = 2 * passes.forward.allToAll + passes.update.allToAll;
  const step: VlmStep = {
    tokens: batch.reduce((sum, one) => sum + lengthOf(one), 0),
    loading,
    ...seconds,
    gpuSeconds,
    stepSeconds: gpuSeconds + loading.exposedSeconds,
    balance: balanceOf(loads),
    sharded: plan.metrics.sharded,
    sentTokens: plan.metrics.traffic,
    sentBytes: plan.metrics.traffic * bytesPerSentToken(model) * model.layers * allToAlls,
    movedBytes: movedBytes(scheduler, plan, batch, job),
    deviceBytes: bytes,
    exceeded: exceeded(bytes, loading, job),
  };
  return { step, plan, loads };
}
