/** Builds the simulated machines of a job. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { RewardKind } from '../../schemas/index.ts';
import { EnginePool } from '../cluster/engines/engine-pool.ts';
import type { Hardware } from '../cluster/hardware.ts';
import { numbered } from '../cluster/ids.ts';
import { type ChunkCosts, DividedInference } from '../cluster/machines/divided.ts';
import { ElasticInference } from '../cluster/machines/elastic.ts';
import { InferenceMachine } from '../cluster/machines/inference.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import { Trainer } from '../cluster/machines/trainer.ts';
import { ColocatedGpus } from '../cluster/shared-gpus.ts';
import { PromptSource } from '../cluster/source.ts';
import { type Judged, Judges, type SharedGpus } from '../rewards/judges.ts';
import { plainRewards, RewardModel } from '../rewards/model.ts';
import type { RewardSettings } from '../rewards/settings.ts';
import { RewardWorkers } from '../rewards/workers.ts';
import type { Workload } from '../workload/workload.ts';
import type { Job } from './job.ts';

/** The machines of a run, with their sources of prompts and rewards. */
export interface Cluster {
  readonly pool: EnginePool;
  readonly inference: InferenceMachine;
  /** All machines including the engines, in the order in which they report. */
  readonly machines: readonly Machine[];
  readonly source: PromptSource;
  /** Events that tell the policy about its machines. */
  readonly joining: readonly AnyEvent[];
  readonly trainer?: Trainer;
  /** What rewards come from, and what learns from them; absent where a log says what was earned. */
  readonly model?: RewardModel;
  /** The rewards of a group, where no machine computes rewards. */
  readonly rewardsOf?: (group: readonly { readonly requestId: string }[]) => { readonly reward: number }[];
  /** Returns how the reward of a request is computed, for a policy that is staged. */
  readonly kindOf?: (requestId: string) => RewardKind | undefined;
}

/** Options of a run beside its job. */
export interface ClusterOptions {
  readonly prompts: number;
  readonly seed: number;
  readonly timeline: boolean;
  /** Whether the policy arranges GPUs, rewards and training, too. */
  readonly elastic: boolean;
  /** Whether workers compute rewards, and replicas train, after a rollout on engines that stay as they are. */
  readonly staged: boolean;
  /** Whether training has GPUs of its own. */
  readonly oneStepOff: boolean;
  /** Whether responses of deferred prompts continue where they were. */
  readonly keepsTokens: boolean;
  /** Costs of chunks, if responses come in chunks. */
  readonly chunks?: ChunkCosts | undefined;
}

/** Returns the machines of a job. Throws `PolicyError` `infeasible` for an elastic job without hardware. */
export function buildCluster(job: Job, workload: Workload, options: ClusterOptions): Cluster {
  return options.elastic ? elastic(job, workload, options) : fixed(job, workload, options);
}

function fixed(job: Job, workload: Workload, options: ClusterOptions): Cluster {
  const { prompts, seed, timeline, keepsTokens, chunks, staged } = options;
  const pool = new EnginePool(job.engines, job.cost, timeline);
  const source = new PromptSource(workload, prompts, undefined, keepsTokens);
  const inference =
    chunks === undefined ? new InferenceMachine(pool, source) : new DividedInference(pool, source, chunks);
  const joining = pool.engineIds.map((engineId) => ({ type: 'engine.added', at: 0, engineId }) as AnyEvent);
  const model = new RewardModel(job.rewards ?? plainRewards, seed, job.promptsPerRound);
  if (staged) {
    const kindOf = (requestId: string): RewardKind | undefined => {
      const drawn = source.drawn(requestId);
      return drawn && model.kindOf(drawn.promptIndex, drawn.task);
    };
    const stages = stagesOf(job, { source, model, gpus: new ColocatedGpus(pool, hardwareOf(job), job.cost.gpus) });
    const machines = [inference, ...stages.machines];
    return { pool, inference, source, model, kindOf, ...stages, machines, joining: [...joining, ...stages.joining] };
  }
  const rewardsOf: Cluster['rewardsOf'] = (group) => {
    const drawn = group.flatMap(({ requestId }) => source.drawn(requestId) ?? []);
    const [first] = drawn;
    const kind = first === undefined ? 'rule' : model.kindOf(first.promptIndex, first.task);
    return drawn.map((one) => ({ reward: model.rewardOf(kind, one) }));
  };
  return { pool, inference, machines: [inference], source, model, joining, rewardsOf };
}

/**
 * Returns the number of training replicas that share the GPUs evenly: the number of the job's hardware, or the next lower
 * possible one.
 */
export function trainingReplicasOf(job: Job, gpus: number): number {
  let replicas = Math.min(gpus, job.hardware?.trainingReplicas ?? 1);
  while (gpus % replicas !== 0) replicas -= 1;
  return replicas;
}

/** Returns the ids of the GPUs that only train, in a one-step off-policy pipeline. */
export function trainingGpuIdsOf(job: Job): string[] {
  return numbered('trainer-gpu', job.hardware?.trainingGpus ?? job.engines * job.cost.gpus);
}

/** Returns the ids of the GPUs of a job's engines. */
export function gpuIdsOf(job: Job): string[] {
  return numbered('gpu', job.engines * job.cost.gpus);
}

function elastic(job: Job, workload: Workload, options: ClusterOptions): Cluster {
  const { prompts, seed, timeline, oneStepOff, keepsTokens } = options;
  const hardware = hardwareOf(job);
  const { tp: rowGpus, cost } = hardware.costs[0]!;
  if (job.cost.drafts !== undefined && hardware.costs.some((one) => one.cost.drafts === undefined)) {
    refuse('infeasible', 'hardware.costs', 'drafts in every one of them, as in `cost`', job.name);
  }
  const gpuIds = gpuIdsOf(job);
  const pool = new EnginePool(gpuIds.length / rowGpus, cost, timeline, 'gpus');
  const model = new RewardModel(rewardsIn(job), seed, job.promptsPerRound);
  const source = new PromptSource(workload, prompts, (index, task) => model.kindOf(index, task), keepsTokens);
  const rowOfGpu = new Map(gpuIds.map((gpuId, index) => [gpuId, Math.floor(index / rowGpus)]));
  const inference = new ElasticInference(pool, source, hardware, rowOfGpu);
  const gpus = new ColocatedGpus(pool, hardware, rowGpus);
  const stages = stagesOf(job, { source, model, gpus, oneStepOff });
  return { pool, inference, source, model, ...stages, machines: [inference, ...stages.machines] };
}

interface StageParts {
  readonly source: PromptSource;
  readonly model: RewardModel;
  readonly gpus: SharedGpus;
  readonly oneStepOff?: boolean;
}

/** Returns the machines that compute rewards and train. */
function stagesOf(job: Job, { source, model, gpus, oneStepOff = false }: StageParts) {
  const rewards = rewardsIn(job);
  const workers = new RewardWorkers(
    (requestId, kind) => model.work(kind, source.drawn(requestId)!),
    rewards.judge === undefined ? undefined : ['rule', 'sandbox'],
  );
  const gpuIds = gpuIdsOf(job);
  const judges = judgesOf(rewards, gpuIds.length, gpus, (requestId) => model.judged(source.drawn(requestId)!));
  const trainers = oneStepOff ? trainingGpuIdsOf(job) : gpuIds;
  const trainer = new Trainer(numbered('replica', trainingReplicasOf(job, trainers.length)), job.cost);
  const machines: Machine[] = [workers, ...(judges === undefined ? [] : [judges]), trainer];
  return { machines, joining: [...RewardWorkers.joining(rewards), ...(judges?.joining() ?? [])], trainer };
}

const hardwareOf = (job: Job): Hardware =>
  job.hardware ?? refuse('infeasible', 'hardware', 'a job with hardware', job.name);
const rewardsIn = (job: Job): RewardSettings =>
  job.rewards ?? refuse('infeasible', 'rewards', 'a job with rewards', job.name);

/** Returns the judge's replicas; an empty list if plain workers judge. */
function judgesOf(
  { judge }: RewardSettings,
  gpus: number,
  shared: SharedGpus,
  judged: (requestId: string) => Judged,
): Judges | undefined {
  if (judge === undefined) return undefined;
  if (judge.placement === 'dedicated') return new Judges(numbered('judge', judge.gpus), judge, judged);
  return new Judges(numbered('judge', gpus), judge, judged, shared);
}
