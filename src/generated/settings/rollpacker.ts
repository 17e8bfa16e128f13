// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `rollpacker`: its settings, what it is told, and what it answers. */
import type {
  EngineAdded,
  EngineDrained,
  EngineLost,
  GpusReclaim,
  GpusRelease,
  GpusReleased,
  GpusReleaseFailed,
  GpusReturned,
  GradientScale,
  GradientsDiscard,
  GradientsOffload,
  GradientsReload,
  GroupLate,
  GroupRewarded,
  GroupsDropped,
  GroupUnrewarded,
  GroupWithdrawn,
  HostRestarted,
  JudgementLate,
  JudgementRequest,
  JudgePlace,
  KindTpFailed,
  KindTpKept,
  KindTpSet,
  MigrationAbandoned,
  MigrationCancel,
  MigrationFailed,
  OptimizerStep,
  OptimizerStepped,
  ProfileMeasure,
  ProfileMeasured,
  ProfileObserved,
  ProgressQuery,
  ProgressReported,
  PromptCarried,
  PromptCollected,
  PromptCounted,
  PromptDeferred,
  PromptFailed,
  PromptFiltered,
  PromptJudged,
  PromptMerged,
  PromptReturned,
  PromptsReleased,
  PromptsRequest,
  PromptsSupplied,
  ReferenceCompute,
  ReplicaAdded,
  ReplicaLost,
  RequestAbort,
  RequestAborted,
  RequestExpired,
  RequestLaunch,
  RequestMigrate,
  RequestMigrated,
  RequestProgressed,
  RequestResume,
  RequestStarted,
  ResponseAbandoned,
  ResponseAccepted,
  ResponseCompleted,
  ResponseDropped,
  ResponseFailed,
  ResponseLate,
  ResponseSurplus,
  RewardCancel,
  RewardCancelled,
  RewardDispatch,
  RewardExpired,
  RewardFailed,
  RewardFinished,
  RewardLate,
  RewardMerged,
  RewardRequest,
  RewardScored,
  RewardStarted,
  RewardsResumed,
  RewardsSaturated,
  RewardUnused,
  RewardWorkerAdded,
  RewardWorkerDrained,
  RewardWorkerLost,
  RoundCompleted,
  RoundDrained,
  RoundFailed,
  RoundPlanned,
  RoundRequested,
  RoundRewarded,
  RoundTpSet,
  RoundTrained,
  SandboxLate,
  SandboxReport,
  SandboxReportRequested,
  SandboxRun,
  SandboxScored,
  SandboxUnscored,
  ScaleDownLate,
  ScaleDownRejected,
  SourceDrained,
  SourceExhausted,
  SourceReopened,
  SpeculationChosen,
  StepFinished,
  TimerFired,
  TimerSet,
  ToolFinished,
  ToolStarted,
  TrainConsumed,
  TrainFetch,
  TrainFinish,
  TrainFinished,
  TrainingLate,
  TrainRequeued,
  TriesRecovered,
  TriesSuspended,
  TurnFinished,
  WeightsSwap,
} from '../messages/index.ts';
import type { GpuServer, ProfileRow, RolloutWorkload } from '../messages/objects.ts';
import type { JudgeOffloadInput, JudgeOffloadSettings } from './judge-offload.ts';

/** Configuration of `rollpacker`, as a caller writes it. */
export interface RollpackerInput {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses that a prompt needs (the group size). A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * `auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest.
   *
   * @defaultValue `'fixed'`
   */
  speculation?: 'fixed' | 'auto' | undefined;
  /** Over-provisioning of prompts in short rounds; 1.25 if absent. A number, 1 to 16. */
  promptSpeculation?: number | undefined;
  /** Over-provisioning of responses in short rounds; 1.25 if absent. A number, 1 to 16. */
  responseSpeculation?: number | undefined;
  /**
   * The recipe knows the engines, and places all requests.
   *
   * @defaultValue `'policy'`
   */
  placement?: 'policy' | undefined;
  /** Most requests in flight at once; unlimited if absent. A whole number, 1 or more. */
  maxInFlight?: number | undefined;
  /** Most requests in flight on one engine (`placement: policy`); unlimited if absent. A whole number, 1 or more. */
  maxInFlightPerEngine?: number | undefined;
  /** Retry budgets of each response; only failures that are its own are charged. */
  retry?:
    | {
        /**
         * Further tries of a response after infrastructure faults. A whole number, 0 or more.
         *
         * @defaultValue `5`
         */
        infrastructure?: number | undefined;
        /**
         * Further tries of a response after faults of the prompt itself. A whole number, 0 or more.
         *
         * @defaultValue `1`
         */
        data?: number | undefined;
        /**
         * Further tries of a trajectory after faults of its environment. A whole number, 0 or more.
         *
         * @defaultValue `3`
         */
        environment?: number | undefined;
        /**
         * Seconds until a response is given up whose failures are beyond its budget, while no other succeeds to compare
         * it with; never if absent. A number above 0.
         */
        giveUpSeconds?: number | undefined;
      }
    | undefined;
  /**
   * Which collected prompts count: all, those whose rewards differ, or those that the host keeps.
   *
   * @defaultValue `'none'`
   */
  filter?: 'none' | 'zero-variance' | 'host' | undefined;
  /**
   * Standard deviation of raw rewards up to which a prompt has zero variance. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  varianceTolerance?: number | undefined;
  /**
   * Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent. A
   * whole number, 1 or more.
   */
  maxFiltered?: number | undefined;
  /**
   * Prompts of each domain in a short round; together they are P0. Long rounds take any mix. Each: a whole number, 1 or
   * more.
   */
  quotas?: Record<string, number> | undefined;
  /**
   * Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more.
   *
   * @defaultValue `false`
   */
  partialRollout?: boolean | undefined;
  /**
   * Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous. A whole
   * number.
   *
   * @defaultValue `0`
   */
  maxStaleness?: number | undefined;
  /**
   * Whether a round may open before the last one has drained.
   *
   * @defaultValue `false`
   */
  allowOverlap?: boolean | undefined;
  /**
   * Seconds until an unconfirmed abort frees its engine slot. A number above 0.
   *
   * @defaultValue `30`
   */
  abortGraceSeconds?: number | undefined;
  /**
   * Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never if
   * absent. A number above 0.
   */
  responseTimeoutSeconds?: number | undefined;
  /** Requests are launched anew when the host restarts. */
  onRestart?: 'launch' | undefined;
  /**
   * Prefix of every request id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
  /**
   * Speculation in short rounds, and long rounds for what they defer. Off: every round waits for all.
   *
   * @defaultValue `true`
   */
  tailBatching?: boolean | undefined;
  /**
   * Rounds are composed by predicted length, as in `lossless-tail`; not with `tailBatching`. With `partialRollout`,
   * they have `promptSpeculation` times their prompts. Off: the order of the data.
   *
   * @defaultValue `false`
   */
  composition?: boolean | undefined;
  /**
   * The parallelism of the engines follows their preemptions. Off: TP stays at `startTp`, or `minTp`, and EP as it is.
   *
   * @defaultValue `true`
   */
  adaptiveTp?: boolean | undefined;
  /**
   * Code in sandboxes is stopped early. Off: only at `rewardBudgetSeconds.sandbox`.
   *
   * @defaultValue `true`
   */
  adaptiveTimeout?: boolean | undefined;
  /**
   * Rewards are computed beside the rollout. Off: when the round is complete.
   *
   * @defaultValue `true`
   */
  asyncReward?: boolean | undefined;
  /**
   * GPUs are released during the rollout and train completed groups. Off: training comes after it.
   *
   * @defaultValue `true`
   */
  streamTraining?: boolean | undefined;
  /**
   * A judge shares the GPUs with the actor, laid out by `judge-offload`. Off: it has GPUs of its own.
   *
   * @defaultValue `false`
   */
  judgeOffload?: boolean | undefined;
  /** The judge, for `judgeOffload`; its `sequenceTokens` is the greatest length that it is ever given. */
  judge?: JudgeOffloadInput | undefined;
  /**
   * Which queued prompts a long round takes first; overdue ones always come before.
   *
   * @defaultValue `'fifo'`
   */
  order?: 'fifo' | 'longest-expected-first' | undefined;
  /** A prompt that was deferred this often forces a long round; never if absent. A whole number, 1 or more. */
  maxDeferrals?: number | undefined;
  /**
   * A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. A whole
   * number, 1 or more.
   *
   * @defaultValue `16`
   */
  maxWaitRounds?: number | undefined;
  /**
   * W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. A whole
   * number, 1 to 1,000.
   *
   * @defaultValue `10`
   */
  windowRounds?: number | undefined;
  /**
   * Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. A whole
   * number, 1 to 10,000,000.
   *
   * @defaultValue `1000000`
   */
  rememberedPrompts?: number | undefined;
  /** The servers of the rollout, with their GPUs in order. */
  servers: GpuServer[];
  /** KV heads of the model; a TP degree divides them. A whole number, 1 or more. */
  kvHeads: number;
  /** Bytes of the weights of the model, over all GPUs of a replica. A number above 0. */
  modelBytes: number;
  /** Bytes of memory of one GPU. A number above 0. */
  gpuMemoryBytes: number;
  /**
   * Share of the GPU memory that an engine may use for weights and KV cache. A number above 0 and at most 1.
   *
   * @defaultValue `0.9`
   */
  memoryUtilization?: number | undefined;
  /** Bytes of KV cache of one token, over all GPUs of an engine. A number above 0. */
  kvBytesPerToken: number;
  /** Longest response, in tokens, over all attempts. A whole number, 1 to 16,777,216. */
  maxResponseTokens: number;
  /**
   * Routed experts of an MoE model; EP degrees divide them and the TP. Without it EP is not touched. A whole number, 1
   * or more.
   */
  experts?: number | undefined;
  /**
   * Least tensor-parallel degree. A whole number, 1 or more.
   *
   * @defaultValue `1`
   */
  minTp?: number | undefined;
  /** Greatest tensor-parallel degree; that of a server if absent. A whole number, 1 or more. */
  maxTp?: number | undefined;
  /** Degrees to start with, in place of those that the profile gives. */
  startTp?:
    | {
        /** Degree that short rounds start with. A whole number, 1 or more. */
        short?: number | undefined;
        /** Degree that long rounds start with. A whole number, 1 or more. */
        long?: number | undefined;
      }
    | undefined;
  /** What the first rounds are expected to demand: the profile chooses the start for it. */
  expectedWorkload?:
    | {
        /** What a short round is expected to demand. */
        short?: RolloutWorkload | undefined;
        /** What a long round is expected to demand. */
        long?: RolloutWorkload | undefined;
      }
    | undefined;
  /**
   * Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto.
   *
   * @defaultValue `[]`
   */
  profile?: ProfileRow[] | undefined;
  /**
   * λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. A number, 1 to
   * 1,000.
   *
   * @defaultValue `4`
   */
  timeoutFactor?: number | undefined;
  /**
   * Tmin: no timeout is shorter, in seconds. A number, 0 or more.
   *
   * @defaultValue `2`
   */
  minTimeoutSeconds?: number | undefined;
  /**
   * Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
   * day. A number above 0 and at most 86,400.
   *
   * @defaultValue `30`
   */
  maxTimeoutSeconds?: number | undefined;
  /**
   * Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. A whole number.
   *
   * @defaultValue `16`
   */
  exploreEvery?: number | undefined;
  /**
   * Most test cases whose anchors are kept; the least recently used leave. A whole number, 1 to 10,000,000.
   *
   * @defaultValue `100000`
   */
  maxTestCases?: number | undefined;
  /**
   * Most runs that reports are made from; the oldest leave. A whole number, 1 to 1,000,000.
   *
   * @defaultValue `2048`
   */
  historyRuns?: number | undefined;
  /**
   * How rewards are computed where nothing else says so.
   *
   * @defaultValue `'rule'`
   */
  defaultRewardKind?: 'rule' | 'sandbox' | 'judge' | undefined;
  /** How rewards are computed, by the domain. */
  rewardKindByDomain?: Record<string, 'rule' | 'sandbox' | 'judge'> | undefined;
  /** Budgets of the kinds, for requests that bring none of their own. */
  rewardBudgetSeconds?:
    | {
        /**
         * Seconds that a rule may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `2`
         */
        rule?: number | undefined;
        /**
         * Seconds that a sandbox may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `30`
         */
        sandbox?: number | undefined;
        /**
         * Seconds that a judge may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `120`
         */
        judge?: number | undefined;
      }
    | undefined;
  /** Retry budgets of each response. */
  rewardRetry?:
    | {
        /**
         * Further tries after failures that are proven to be its own: others have succeeded since where it failed.
         * Silence of a worker is such a failure, the loss of one is none. A whole number, 0 or more.
         *
         * @defaultValue `3`
         */
        infrastructure?: number | undefined;
        /**
         * Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with
         * others; absent: never. A number above 0.
         */
        giveUpSeconds?: number | undefined;
        /**
         * Further tries of a response that ran out of its budget. A whole number, 0 or more.
         *
         * @defaultValue `0`
         */
        timeout?: number | undefined;
      }
    | undefined;
  /**
   * What a response is given that ran out of time for good: `timeoutReward`, or no reward at all.
   *
   * @defaultValue `'reward'`
   */
  onRewardTimeout?: 'reward' | 'fail' | undefined;
  /**
   * The reward of a response that ran out of time.
   *
   * @defaultValue `0`
   */
  timeoutReward?: number | undefined;
  /** Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one. */
  trainingReplicas: {
    /** Id of the data-parallel training replica. At most 512 characters. */
    id: string;
    /** GPUs of the replica; it streams when all of them are released. Each: at most 512 characters. */
    gpuIds: string[];
  }[];
  /**
   * `stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.
   *
   * @defaultValue `'stream'`
   */
  fetch?:
    | 'stream'
    | {
        /** Most of the round that the one fetch may take, above 0, up to 1. */
        once: number;
      }
    | undefined;
  /**
   * Fewest groups of a fetch: what fills a micro-batch. A whole number, 1 or more.
   *
   * @defaultValue `1`
   */
  minFetchGroups?: number | undefined;
  /**
   * `swap`: reference logits are computed on the replica, with the weights swapped for this pass.
   *
   * @defaultValue `'none'`
   */
  reference?: 'none' | 'swap' | undefined;
  /**
   * Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of
   * all.
   *
   * @defaultValue `'replica'`
   */
  pace?: 'replica' | 'shared' | undefined;
  /**
   * When a streaming replica moves its gradients to the host; it always does before its GPUs go back.
   *
   * @defaultValue `'idle'`
   */
  gradientOffload?: 'idle' | 'never' | undefined;
  /**
   * What the loss is averaged over; `constant`: it is divided by `divisor`.
   *
   * @defaultValue `'samples'`
   */
  unit?: 'samples' | 'tokens' | 'groups' | 'constant' | undefined;
  /** What the loss is divided by (`unit: constant`). A number above 0. */
  divisor?: number | undefined;
  /**
   * What a replica accumulates: the sum over its units, or their mean over everything that it trained.
   *
   * @defaultValue `'sum'`
   */
  reduction?: 'mean' | 'sum' | undefined;
  /**
   * What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean.
   *
   * @defaultValue `'mean'`
   */
  collective?: 'sum' | 'mean' | undefined;
  /**
   * Has to be 1: only then no gradient needs newer weights. A whole number.
   *
   * @defaultValue `1`
   */
  optimizerStepsPerRound?: number | undefined;
  /**
   * Has to be 1: a second pass would need the weights after the first. A whole number.
   *
   * @defaultValue `1`
   */
  epochs?: number | undefined;
  /**
   * Over what advantages are normalised; `batch` cannot be known before the round is over.
   *
   * @defaultValue `'group'`
   */
  advantageNormalization?: 'none' | 'group' | 'batch' | undefined;
  /**
   * `adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits.
   *
   * @defaultValue `'adaptive'`
   */
  scaleDownTrigger?: 'adaptive' | number | undefined;
  /**
   * Chance that the KV cache of every remaining engine stays below its projected peak. A number, 0.5 to 0.9999.
   *
   * @defaultValue `0.95`
   */
  kvQuantile?: number | undefined;
}

/** Configuration of `rollpacker`, its defaults filled in. */
export interface RollpackerConfig {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses that a prompt needs (the group size). A whole number, 1 or more. */
  responsesPerPrompt: number;
  /** `auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest. */
  speculation: 'fixed' | 'auto';
  /** Over-provisioning of prompts in short rounds; 1.25 if absent. A number, 1 to 16. */
  promptSpeculation?: number | undefined;
  /** Over-provisioning of responses in short rounds; 1.25 if absent. A number, 1 to 16. */
  responseSpeculation?: number | undefined;
  /** The recipe knows the engines, and places all requests. */
  placement: 'policy';
  /** Most requests in flight at once; unlimited if absent. A whole number, 1 or more. */
  maxInFlight?: number | undefined;
  /** Most requests in flight on one engine (`placement: policy`); unlimited if absent. A whole number, 1 or more. */
  maxInFlightPerEngine?: number | undefined;
  /** Retry budgets of each response; only failures that are its own are charged. */
  retry: {
    /** Further tries of a response after infrastructure faults. A whole number, 0 or more. */
    infrastructure: number;
    /** Further tries of a response after faults of the prompt itself. A whole number, 0 or more. */
    data: number;
    /** Further tries of a trajectory after faults of its environment. A whole number, 0 or more. */
    environment: number;
    /**
     * Seconds until a response is given up whose failures are beyond its budget, while no other succeeds to compare it
     * with; never if absent. A number above 0.
     */
    giveUpSeconds?: number | undefined;
  };
  /** Which collected prompts count: all, those whose rewards differ, or those that the host keeps. */
  filter: 'none' | 'zero-variance' | 'host';
  /** Standard deviation of raw rewards up to which a prompt has zero variance. A number, 0 or more. */
  varianceTolerance: number;
  /**
   * Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent. A
   * whole number, 1 or more.
   */
  maxFiltered?: number | undefined;
  /**
   * Prompts of each domain in a short round; together they are P0. Long rounds take any mix. Each: a whole number, 1 or
   * more.
   */
  quotas?: Record<string, number> | undefined;
  /** Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more. */
  partialRollout: boolean;
  /**
   * Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous. A whole
   * number.
   */
  maxStaleness: number;
  /** Whether a round may open before the last one has drained. */
  allowOverlap: boolean;
  /** Seconds until an unconfirmed abort frees its engine slot. A number above 0. */
  abortGraceSeconds: number;
  /**
   * Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never if
   * absent. A number above 0.
   */
  responseTimeoutSeconds?: number | undefined;
  /** Requests are launched anew when the host restarts. */
  onRestart?: 'launch' | undefined;
  /** Prefix of every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /** Speculation in short rounds, and long rounds for what they defer. Off: every round waits for all. */
  tailBatching: boolean;
  /**
   * Rounds are composed by predicted length, as in `lossless-tail`; not with `tailBatching`. With `partialRollout`,
   * they have `promptSpeculation` times their prompts. Off: the order of the data.
   */
  composition: boolean;
  /**
   * The parallelism of the engines follows their preemptions. Off: TP stays at `startTp`, or `minTp`, and EP as it is.
   */
  adaptiveTp: boolean;
  /** Code in sandboxes is stopped early. Off: only at `rewardBudgetSeconds.sandbox`. */
  adaptiveTimeout: boolean;
  /** Rewards are computed beside the rollout. Off: when the round is complete. */
  asyncReward: boolean;
  /** GPUs are released during the rollout and train completed groups. Off: training comes after it. */
  streamTraining: boolean;
  /** A judge shares the GPUs with the actor, laid out by `judge-offload`. Off: it has GPUs of its own. */
  judgeOffload: boolean;
  /** The judge, for `judgeOffload`; its `sequenceTokens` is the greatest length that it is ever given. */
  judge?: JudgeOffloadSettings | undefined;
  /** Which queued prompts a long round takes first; overdue ones always come before. */
  order: 'fifo' | 'longest-expected-first';
  /** A prompt that was deferred this often forces a long round; never if absent. A whole number, 1 or more. */
  maxDeferrals?: number | undefined;
  /**
   * A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. A whole
   * number, 1 or more.
   */
  maxWaitRounds: number;
  /**
   * W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. A whole
   * number, 1 to 1,000.
   */
  windowRounds: number;
  /**
   * Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. A whole
   * number, 1 to 10,000,000.
   */
  rememberedPrompts: number;
  /** The servers of the rollout, with their GPUs in order. */
  servers: GpuServer[];
  /** KV heads of the model; a TP degree divides them. A whole number, 1 or more. */
  kvHeads: number;
  /** Bytes of the weights of the model, over all GPUs of a replica. A number above 0. */
  modelBytes: number;
  /** Bytes of memory of one GPU. A number above 0. */
  gpuMemoryBytes: number;
  /** Share of the GPU memory that an engine may use for weights and KV cache. A number above 0 and at most 1. */
  memoryUtilization: number;
  /** Bytes of KV cache of one token, over all GPUs of an engine. A number above 0. */
  kvBytesPerToken: number;
  /** Longest response, in tokens, over all attempts. A whole number, 1 to 16,777,216. */
  maxResponseTokens: number;
  /**
   * Routed experts of an MoE model; EP degrees divide them and the TP. Without it EP is not touched. A whole number, 1
   * or more.
   */
  experts?: number | undefined;
  /** Least tensor-parallel degree. A whole number, 1 or more. */
  minTp: number;
  /** Greatest tensor-parallel degree; that of a server if absent. A whole number, 1 or more. */
  maxTp?: number | undefined;
  /** Degrees to start with, in place of those that the profile gives. */
  startTp: {
    /** Degree that short rounds start with. A whole number, 1 or more. */
    short?: number | undefined;
    /** Degree that long rounds start with. A whole number, 1 or more. */
    long?: number | undefined;
  };
  /** What the first rounds are expected to demand: the profile chooses the start for it. */
  expectedWorkload: {
    /** What a short round is expected to demand. */
    short?: RolloutWorkload | undefined;
    /** What a long round is expected to demand. */
    long?: RolloutWorkload | undefined;
  };
  /** Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto. */
  profile: ProfileRow[];
  /**
   * λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. A number, 1 to
   * 1,000.
   */
  timeoutFactor: number;
  /** Tmin: no timeout is shorter, in seconds. A number, 0 or more. */
  minTimeoutSeconds: number;
  /**
   * Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
   * day. A number above 0 and at most 86,400.
   */
  maxTimeoutSeconds: number;
  /**
   * Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. A whole number.
   */
  exploreEvery: number;
  /** Most test cases whose anchors are kept; the least recently used leave. A whole number, 1 to 10,000,000. */
  maxTestCases: number;
  /** Most runs that reports are made from; the oldest leave. A whole number, 1 to 1,000,000. */
  historyRuns: number;
  /** How rewards are computed where nothing else says so. */
  defaultRewardKind: 'rule' | 'sandbox' | 'judge';
  /** How rewards are computed, by the domain. */
  rewardKindByDomain?: Record<string, 'rule' | 'sandbox' | 'judge'> | undefined;
  /** Budgets of the kinds, for requests that bring none of their own. */
  rewardBudgetSeconds: {
    /** Seconds that a rule may take. A number above 0 and at most 1,000,000. */
    rule: number;
    /** Seconds that a sandbox may take. A number above 0 and at most 1,000,000. */
    sandbox: number;
    /** Seconds that a judge may take. A number above 0 and at most 1,000,000. */
    judge: number;
  };
  /** Retry budgets of each response. */
  rewardRetry: {
    /**
     * Further tries after failures that are proven to be its own: others have succeeded since where it failed. Silence
     * of a worker is such a failure, the loss of one is none. A whole number, 0 or more.
     */
    infrastructure: number;
    /**
     * Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with
     * others; absent: never. A number above 0.
     */
    giveUpSeconds?: number | undefined;
    /** Further tries of a response that ran out of its budget. A whole number, 0 or more. */
    timeout: number;
  };
  /** What a response is given that ran out of time for good: `timeoutReward`, or no reward at all. */
  onRewardTimeout: 'reward' | 'fail';
  /** The reward of a response that ran out of time. */
  timeoutReward: number;
  /** Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one. */
  trainingReplicas: {
    /** Id of the data-parallel training replica. At most 512 characters. */
    id: string;
    /** GPUs of the replica; it streams when all of them are released. Each: at most 512 characters. */
    gpuIds: string[];
  }[];
  /**
   * `stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.
   */
  fetch:
    | 'stream'
    | {
        /** Most of the round that the one fetch may take, above 0, up to 1. */
        once: number;
      };
  /** Fewest groups of a fetch: what fills a micro-batch. A whole number, 1 or more. */
  minFetchGroups: number;
  /** `swap`: reference logits are computed on the replica, with the weights swapped for this pass. */
  reference: 'none' | 'swap';
  /**
   * Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of
   * all.
   */
  pace: 'replica' | 'shared';
  /** When a streaming replica moves its gradients to the host; it always does before its GPUs go back. */
  gradientOffload: 'idle' | 'never';
  /** What the loss is averaged over; `constant`: it is divided by `divisor`. */
  unit: 'samples' | 'tokens' | 'groups' | 'constant';
  /** What the loss is divided by (`unit: constant`). A number above 0. */
  divisor?: number | undefined;
  /** What a replica accumulates: the sum over its units, or their mean over everything that it trained. */
  reduction: 'mean' | 'sum';
  /** What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean. */
  collective: 'sum' | 'mean';
  /** Has to be 1: only then no gradient needs newer weights. A whole number. */
  optimizerStepsPerRound: number;
  /** Has to be 1: a second pass would need the weights after the first. A whole number. */
  epochs: number;
  /** Over what advantages are normalised; `batch` cannot be known before the round is over. */
  advantageNormalization: 'none' | 'group' | 'batch';
  /** `adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits. */
  scaleDownTrigger: 'adaptive' | number;
  /** Chance that the KV cache of every remaining engine stays below its projected peak. A number, 0.5 to 0.9999. */
  kvQuantile: number;
}

/** What `rollpacker` is told. */
export type RollpackerEvent =
  | EngineAdded
  | EngineDrained
  | EngineLost
  | GpusReleaseFailed
  | GpusReleased
  | GpusReturned
  | HostRestarted
  | KindTpFailed
  | MigrationFailed
  | OptimizerStepped
  | ProfileMeasured
  | ProfileObserved
  | ProgressReported
  | PromptJudged
  | PromptsSupplied
  | ReplicaAdded
  | ReplicaLost
  | RequestAborted
  | RequestMigrated
  | RequestProgressed
  | RequestStarted
  | ResponseCompleted
  | ResponseFailed
  | RewardFinished
  | RewardStarted
  | RewardWorkerAdded
  | RewardWorkerDrained
  | RewardWorkerLost
  | RoundFailed
  | RoundRequested
  | SandboxReportRequested
  | SourceExhausted
  | SourceReopened
  | StepFinished
  | TimerFired
  | ToolFinished
  | ToolStarted
  | TrainConsumed
  | TrainFinished
  | TurnFinished;

/** What `rollpacker` asks of the host. */
export type RollpackerCommand =
  | GpusReclaim
  | GpusRelease
  | GradientScale
  | GradientsDiscard
  | GradientsOffload
  | GradientsReload
  | JudgePlace
  | JudgementRequest
  | KindTpSet
  | MigrationCancel
  | OptimizerStep
  | ProfileMeasure
  | ProgressQuery
  | PromptsRequest
  | ReferenceCompute
  | RequestAbort
  | RequestLaunch
  | RequestMigrate
  | RequestResume
  | RewardCancel
  | RewardDispatch
  | RewardRequest
  | RoundTpSet
  | SandboxRun
  | TimerSet
  | TrainFetch
  | TrainFinish
  | WeightsSwap;

/** What `rollpacker` lets others know. */
export type RollpackerNotice =
  | GroupLate
  | GroupRewarded
  | GroupUnrewarded
  | GroupWithdrawn
  | GroupsDropped
  | JudgementLate
  | KindTpKept
  | MigrationAbandoned
  | PromptCarried
  | PromptCollected
  | PromptCounted
  | PromptDeferred
  | PromptFailed
  | PromptFiltered
  | PromptMerged
  | PromptReturned
  | PromptsReleased
  | RequestExpired
  | ResponseAbandoned
  | ResponseAccepted
  | ResponseDropped
  | ResponseLate
  | ResponseSurplus
  | RewardCancelled
  | RewardExpired
  | RewardFailed
  | RewardLate
  | RewardMerged
  | RewardScored
  | RewardUnused
  | RewardsResumed
  | RewardsSaturated
  | RoundCompleted
  | RoundDrained
  | RoundPlanned
  | RoundRewarded
  | RoundTrained
  | SandboxLate
  | SandboxReport
  | SandboxScored
  | SandboxUnscored
  | ScaleDownLate
  | ScaleDownRejected
  | SourceDrained
  | SpeculationChosen
  | TrainRequeued
  | TrainingLate
  | TriesRecovered
  | TriesSuspended;

/** What `rollpacker` answers. */
export type RollpackerDecision = RollpackerCommand | RollpackerNotice;
