/** RollPacker, mechanism by mechanism: the recipe that a real host embeds, with parts of it switched off. */
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { type RollpackerInput, rollpacker } from '../../recipes/rollpacker/index.ts';
import { numbered } from '../cluster/ids.ts';
import type { Variant } from '../comparison/result.ts';
import { gpuIdsOf, trainingGpuIdsOf, trainingReplicasOf } from './cluster.ts';
import type { Job } from './job.ts';
import { profileOf } from './profile.ts';
import { losslessTailScheduler, type Scheduler, synchronousBaseline, tailBatchingScheduler } from './scheduler.ts';

/** Switches for the mechanisms of RollPacker, and settings that do not come from the job. */
export type RollpackerSwitches = Pick<
  RollpackerInput,
  'tailBatching' | 'composition' | 'adaptiveTp' | 'adaptiveTimeout' | 'asyncReward' | 'streamTraining'
> &
  Partial<
    Pick<
      RollpackerInput,
      | 'promptSpeculation'
      | 'responseSpeculation'
      | 'windowRounds'
      | 'scaleDownTrigger'
      | 'startTp'
      | 'fetch'
      | 'judgeOffload'
      | 'partialRollout'
      | 'maxStaleness'
    >
  > & {
    /** Whether a round opens while the previous round is trained on separate GPUs (RollPacker §6.7); not with `streamTraining`. */
    readonly oneStepOff?: boolean;
  };

/** Longest that a judgement may take, in seconds. */
const judgeBudgetSeconds = 3600;

/** Returns the configuration of the recipe `rollpacker` for a job. Throws `PolicyError` `infeasible` without hardware. */
export function rollpackerConfigOf(job: Job, switches: RollpackerSwitches = {}): RollpackerInput {
  const { hardware, promptsPerRound, responsesPerPrompt } = job;
  const { judgeOffload: _, oneStepOff = false, ...rest } = switches;
  if (oneStepOff && rest.streamTraining !== false) {
    const expected = 'false: in a one-step off-policy pipeline training has GPUs of its own';
    refuse('infeasible', 'streamTraining', expected, rest.streamTraining ?? true);
  }
  if (hardware === undefined) {
    refuse('infeasible', 'hardware', 'a job with hardware', job.name);
  }
  const gpuIds = gpuIdsOf(job);
  const { gpusPerServer, costs, kvHeads, modelBytes, gpuMemoryBytes, memoryUtilization } = hardware;
  const trainers = oneStepOff ? trainingGpuIdsOf(job) : gpuIds;
  const trainingReplicas = trainingReplicasOf(job, trainers.length);
  const perReplica = trainers.length / trainingReplicas;
  const degrees = costs.map((one) => one.tp);
  const start = { short: job.cost.gpus, long: job.cost.gpus };
  return {
    promptsPerRound,
    responsesPerPrompt,
    servers: numbered('server', Math.ceil(gpuIds.length / gpusPerServer)).map((serverId, index) => ({
      serverId,
      gpuIds: gpuIds.slice(index * gpusPerServer, (index + 1) * gpusPerServer),
    })),
    kvHeads,
    modelBytes,
    gpuMemoryBytes,
    memoryUtilization,
    kvBytesPerToken: hardware.kvBytesPerToken,
    maxResponseTokens: hardware.maxResponseTokens,
    minTp: degrees[0]!,
    maxTp: degrees[degrees.length - 1]!,
    startTp: start,
    profile: profileOf(hardware),
    rewardKindByDomain: { rule: 'rule', sandbox: 'sandbox', judge: 'judge' },
    trainingReplicas: numbered('replica', trainingReplicas).map((id, index) => ({
      id,
      gpuIds: trainers.slice(index * perReplica, (index + 1) * perReplica),
    })),
    pace: 'shared',
    ...judgeOf(job, switches),
    reference: job.cost.referenceSecondsPerToken > 0 ? 'swap' : 'none',
    ...rest,
  };
}

/** Lays a judge out beside the actor if rewards are computed beside the rollout. */
function judgeOf(
  { rewards }: Job,
  switches: RollpackerSwitches,
): Pick<RollpackerInput, 'judgeOffload' | 'judge' | 'rewardBudgetSeconds'> {
  const judge = rewards?.judge;
  if (judge === undefined) return {};
  // A judge always ends; its budget would also run while it waits for its place.
  const rewardBudgetSeconds = { judge: judgeBudgetSeconds };
  const isColocated = judge.placement === 'colocated';
  const judgeOffload = isColocated && (switches.judgeOffload ?? switches.asyncReward ?? true);
  return judgeOffload ? { rewardBudgetSeconds, judgeOffload, judge: judge.model } : { rewardBudgetSeconds };
}

/** Returns RollPacker with some mechanisms, as the recipe `rollpacker`. Without any mechanism, this is the synchronous baseline. */
export function rollpackerScheduler(job: Job, id: string, switches: RollpackerSwitches, label = id): Scheduler {
  const config = rollpackerConfigOf(job, switches);
  create(rollpacker, config);
  return {
    id,
    label,
    holdsDeferred: true,
    trains: true,
    oneStepOff: switches.oneStepOff ?? false,
    keepsTokens: switches.partialRollout ?? false,
    create: (options) => create(rollpacker, config, options),
    openRound: (round) => ({ type: 'round.requested', ...round }),
  };
}

/** Every mechanism switched off. */
export const switchedOff = {
  tailBatching: false,
  asyncReward: false,
  adaptiveTimeout: false,
  adaptiveTp: false,
  streamTraining: false,
};
const variant = (above: string, adds: string): Variant => ({ ablation: 'RollPacker', above, adds });
/**
 * The ablation of RollPacker Table 2, in which each variant adds one mechanism; and RLHFuse as strengthened in §6.1 of the paper.
 */
export const variants = [
  { id: 'baseline', label: 'synchronous', switches: switchedOff },
  {
    id: 'tail-batching',
    label: '+ tail batching',
    variant: variant('baseline', 'tail batching'),
    switches: { ...switchedOff, tailBatching: true },
  },
  {
    id: 'rewards',
    label: '+ rewards',
    variant: variant('tail-batching', 'rewards'),
    switches: { ...switchedOff, tailBatching: true, asyncReward: true, adaptiveTimeout: true },
  },
  {
    id: 'adaptive-tp',
    label: '+ adaptive TP',
    variant: variant('rewards', 'adaptive TP'),
    switches: { ...switchedOff, tailBatching: true, asyncReward: true, adaptiveTimeout: true, adaptiveTp: true },
  },
  {
    id: 'stream-training',
    label: '+ streaming',
    variant: variant('adaptive-tp', 'streaming'),
    switches: { tailBatching: true, asyncReward: true, adaptiveTimeout: true, adaptiveTp: true, streamTraining: true },
  },
  { id: 'rlhfuse', label: 'RLHFuse-like', switches: { ...switchedOff, asyncReward: true, streamTraining: true } },
] as const;

/**
 * Returns RollPacker with partial rollout in place of tail batching, in the order of the data: every response is kept, and its tokens
 * lag by at most two versions.
 */
export function partialScheduler(job: Job): Scheduler {
  const switches = { tailBatching: false, composition: true, windowRounds: 1, partialRollout: true };
  const label = 'partial rollout';
  return rollpackerScheduler(job, 'partial-rollout', { ...switches, maxStaleness: 2, promptSpeculation: 1.5 }, label);
}

/** Over-provisioning of prompts and responses in short rounds; 1.25 each if absent. */
export type BatchFactors = Pick<RollpackerSwitches, 'promptSpeculation' | 'responseSpeculation'>;

/** Returns a scheduler per variant of the ablation, the synchronous baseline first. */
export function ablation(job: Job, factors: BatchFactors = {}): Scheduler[] {
  return variants.map(({ id, label, switches, ...rest }) => ({
    ...rollpackerScheduler(job, id, { ...factors, ...switches }, label),
    ...rest,
  }));
}

/**
 * Returns the synchronous baseline of a job, and tail batching: the first two variants of the ablation, with rewards by workers
 * if the job has hardware and rewards; if not, rewards take a constant time after the rollout.
 */
export function usualSchedulers(job: Job, factors: BatchFactors = {}): [baseline: Scheduler, tail: Scheduler] {
  if (job.hardware === undefined || job.rewards === undefined) {
    return [synchronousBaseline(job), tailBatchingScheduler(job, factors)];
  }
  const [baseline, tail] = variants;
  return [
    rollpackerScheduler(job, baseline.id, baseline.switches, baseline.label),
    rollpackerScheduler(job, tail.id, { ...factors, ...tail.switches }, 'tail batching'),
  ];
}

/**
 * Returns the lossless tail, for comparison with {@link usualSchedulers}: rounds are composed by predicted length, and all
 * responses are awaited. The predictions need prompts that come back (`inEpochs`); without such prompts this is the synchronous
 * baseline.
 */
export function losslessScheduler(
  job: Job,
  { oneStepOff = false }: Pick<RollpackerSwitches, 'oneStepOff'> = {},
): Scheduler {
  const [id, label] = ['lossless-tail', 'lossless tail'];
  if (job.hardware === undefined || job.rewards === undefined) return losslessTailScheduler(job, {}, id, label);
  return rollpackerScheduler(job, id, { ...switchedOff, composition: true, oneStepOff }, label);
}
