/** Turns settings into schedulers of the simulator, and into configurations for `registry.create`. */
import type { RolloutPipeInput } from '../../../recipes/rolloutpipe/index.ts';
import type { RollpackerInput } from '../../../recipes/rollpacker/index.ts';
import type { TailPipeliningInput } from '../../../recipes/tail-pipelining/index.ts';
import {
  type RollpackerSwitches,
  rollpackerConfigOf,
  rollpackerScheduler,
  variants,
} from '../../colocated/ablation.ts';
import type { Job } from '../../colocated/job.ts';
import type { Scheduler } from '../../colocated/scheduler.ts';
import {
  type PoolsScheduler,
  poolsScheduler,
  poolsTailScheduler,
  rolloutpipeConfigOf,
  serialBaseline,
  tailPipeliningConfigOf,
} from '../../pools/scheduler.ts';
import type { PoolsJob } from '../../pools/settings.ts';
import { labelOf, type PoolsSettings, type SynchronousSettings } from './settings.ts';

/** The id of a policy and its configuration: the two arguments of `registry.create`. */
export type PolicyChoice =
  | { readonly policy: 'rollpacker'; readonly config: RollpackerInput }
  | { readonly policy: 'rolloutpipe'; readonly config: RolloutPipeInput }
  | { readonly policy: 'tail-pipelining'; readonly config: TailPipeliningInput };

type BatchSettings = Omit<SynchronousSettings, 'threshold' | 'tp' | 'rewards'>;
type Factors = Pick<SynchronousSettings, 'promptSpeculation' | 'responseSpeculation'>;
const speculates = ({ promptSpeculation, responseSpeculation }: Factors): boolean =>
  promptSpeculation > 1 || responseSpeculation > 1;

function batchesOf({ windowRounds, maxStaleness, ...factors }: BatchSettings): RollpackerSwitches {
  const { promptSpeculation } = factors;
  if (maxStaleness !== undefined) {
    const composed = { tailBatching: false, composition: true, windowRounds: windowRounds ?? 1 };
    return { ...composed, partialRollout: true, maxStaleness, promptSpeculation };
  }
  const composed = windowRounds === undefined ? {} : { composition: true, windowRounds };
  return { tailBatching: speculates(factors), ...factors, ...composed };
}

function switchesOf({ threshold, tp, rewards, ...batches }: SynchronousSettings): RollpackerSwitches {
  return {
    ...batchesOf(batches),
    asyncReward: rewards === undefined,
    adaptiveTimeout: rewards === undefined,
    adaptiveTp: tp === 'adaptive',
    ...(tp === 'adaptive' ? {} : { startTp: { short: tp, long: tp } }),
    streamTraining: threshold !== 'off',
    ...(threshold === 'off' ? {} : { scaleDownTrigger: threshold }),
  };
}

const baselineSwitches: RollpackerSwitches = variants[0].switches;

/**
 * Returns RollPacker with these settings, or the synchronous baseline, which is the same recipe with everything off.
 *
 * @throws PolicyError `infeasible` for a job without hardware, `invalid_config` for a TP that the job's hardware does not have
 */
export function synchronousScheduler(job: Job, settings: SynchronousSettings | 'baseline'): Scheduler {
  if (settings === 'baseline') return rollpackerScheduler(job, 'baseline', baselineSwitches, 'synchronous');
  return rollpackerScheduler(job, 'rollpacker', switchesOf(settings), labelOf(settings));
}

/**
 * Returns RollPacker with these settings, or the synchronous baseline, as a policy and its configuration.
 *
 * @throws PolicyError `infeasible` for a job without hardware, `invalid_config` for a TP that the job's hardware does not have
 */
export function synchronousChoice(job: Job, settings: SynchronousSettings | 'baseline'): PolicyChoice {
  const switches = settings === 'baseline' ? baselineSwitches : switchesOf(settings);
  return { policy: 'rollpacker', config: rollpackerConfigOf(job, switches) };
}

/** Returns RolloutPipe with these settings (and tail batching if a factor is above 1), or the serial baseline. */
export function poolsSchedulerOf(settings: PoolsSettings | 'baseline'): PoolsScheduler {
  if (settings === 'baseline') return serialBaseline;
  const { width, ...factors } = settings;
  return speculates(settings)
    ? poolsTailScheduler(true, width, factors)
    : poolsScheduler('rolloutpipe', labelOf(settings), true, width);
}

/** Returns the policy and configuration for the same scheduler. */
export function poolsChoice(job: PoolsJob, settings: PoolsSettings | 'baseline'): PolicyChoice {
  if (settings === 'baseline') return { policy: 'rolloutpipe', config: rolloutpipeConfigOf(job, false, 'all') };
  const { width, ...factors } = settings;
  return speculates(settings)
    ? { policy: 'tail-pipelining', config: tailPipeliningConfigOf(job, true, width, factors) }
    : { policy: 'rolloutpipe', config: rolloutpipeConfigOf(job, true, width) };
}
