// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `rollpacker`: its settings, what it is told, and what it answers. */
import type {
  EngineAdded, EngineDrained, EngineLost, GpusReclaim, GpusRelease, GpusReleased, GpusReleaseFailed, GpusReturned,
  GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupLate, GroupRewarded, GroupsDropped,
  GroupUnrewarded, GroupWithdrawn, HostRestarted, JudgementLate, JudgementRequest, JudgePlace, KindTpFailed, KindTpKept,
  KindTpSet, MigrationAbandoned, MigrationCancel, MigrationFailed, OptimizerStep, OptimizerStepped, ProfileMeasure,
  ProfileMeasured, ProfileObserved, ProgressQuery, ProgressReported, PromptCarried, PromptCollected, PromptCounted,
  PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged, PromptReturned, PromptsReleased,
  PromptsRequest, PromptsSupplied, ReferenceCompute, ReplicaAdded, ReplicaLost, RequestAbort, RequestAborted,
  RequestExpired, RequestLaunch, RequestMigrate, RequestMigrated, RequestProgressed, RequestResume, RequestStarted,
  ResponseAbandoned, ResponseAccepted, ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate,
  ResponseSurplus, RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardFinished,
  RewardLate, RewardMerged, RewardRequest, RewardScored, RewardStarted, RewardsResumed, RewardsSaturated, RewardUnused,
  RewardWorkerAdded, RewardWorkerDrained, RewardWorkerLost, RoundCompleted, RoundDrained, RoundFailed, RoundPlanned,
  RoundRequested, RoundRewarded, RoundTpSet, RoundTrained, SandboxLate, SandboxReport, SandboxReportRequested,
  SandboxRun, SandboxScored, SandboxUnscored, ScaleDownLate, ScaleDownRejected, SourceDrained, SourceExhausted,
  SourceReopened, SpeculationChosen, StepFinished, TimerFired, TimerSet, ToolFinished, ToolStarted, TrainConsumed,
  TrainFetch, TrainFinish, TrainFinished, TrainingLate, TrainRequeued, TriesRecovered, TriesSuspended, TurnFinished,
  WeightsSwap,
} from '../messages/index.ts';
import type { AdaptiveTpConfig, AdaptiveTpInput } from './adaptive-tp.ts';
import type { GpuScaleDownConfig, GpuScaleDownInput } from './gpu-scale-down.ts';
import type { JudgeOffloadInput, JudgeOffloadSettings } from './judge-offload.ts';
import type { LongPromptQueueConfig, LongPromptQueueInput } from './long-prompt-queue.ts';
import type { RewardDispatchConfig, RewardDispatchInput } from './reward-dispatch.ts';
import type { RoundCompositionConfig, RoundCompositionInput } from './round-composition.ts';
import type { SandboxTimeoutConfig, SandboxTimeoutInput } from './sandbox-timeout.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';
import type { StreamTrainingConfig, StreamTrainingInput } from './stream-training.ts';

/** Configuration of `rollpacker`, as a caller writes it. */
export interface RollpackerInput
  extends Omit<SpeculativeAdmissionInput, 'placement' | 'onRestart'>,
    Omit<StreamTrainingInput, 'replicas' | 'groupsPerRound' | 'idPrefix'>,
    Omit<AdaptiveTpInput, 'sequenceBytes' | 'riseFactor' | 'preemptionFloor' | 'calmSteps' | 'cooldownSteps' |
      'undoTolerance' | 'loadTolerance' | 'selectionMargin' | 'observedTolerance' | 'observedRounds'>,
    SandboxTimeoutInput,
    Pick<LongPromptQueueInput, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<RoundCompositionInput, 'windowRounds' | 'rememberedPrompts'>,
    Pick<RewardDispatchInput, 'timeoutReward'>,
    Pick<GpuScaleDownInput, 'maxResponseTokens'> {
  /**
   * The recipe knows the engines, and places all requests.
   *
   * @defaultValue `'policy'`
   */
  placement?: 'policy' | undefined;
  /** Requests are launched anew when the host restarts. */
  onRestart?: 'launch' | undefined;
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
  /** Bytes of KV cache of one token, over all GPUs of an engine. A number above 0. */
  kvBytesPerToken: number;
  /**
   * How rewards are computed where nothing else says so.
   *
   * @defaultValue `'rule'`
   */
  defaultRewardKind?: 'rule' | 'sandbox' | 'judge' | undefined;
  /** How rewards are computed, by the domain. */
  rewardKindByDomain?: Record<string, 'rule' | 'sandbox' | 'judge'> | undefined;
  /** Budgets of the kinds, for requests that bring none of their own. */
  rewardBudgetSeconds?: RewardDispatchInput['budgetSeconds'];
  /** Retry budgets of each response. */
  rewardRetry?: RewardDispatchInput['retry'];
  /**
   * What a response is given that ran out of time for good: `timeoutReward`, or no reward at all.
   *
   * @defaultValue `'reward'`
   */
  onRewardTimeout?: 'reward' | 'fail' | undefined;
  /** Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one. */
  trainingReplicas: StreamTrainingInput['replicas'];
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
export interface RollpackerConfig
  extends Omit<SpeculativeAdmissionConfig, 'placement' | 'onRestart'>,
    Omit<StreamTrainingConfig, 'replicas' | 'groupsPerRound' | 'idPrefix'>,
    Omit<AdaptiveTpConfig, 'sequenceBytes' | 'riseFactor' | 'preemptionFloor' | 'calmSteps' | 'cooldownSteps' |
      'undoTolerance' | 'loadTolerance' | 'selectionMargin' | 'observedTolerance' | 'observedRounds'>,
    SandboxTimeoutConfig,
    Pick<RoundCompositionConfig, 'windowRounds' | 'rememberedPrompts'>,
    Pick<LongPromptQueueConfig, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<RewardDispatchConfig, 'timeoutReward'>,
    Pick<GpuScaleDownConfig, 'maxResponseTokens'>,
    Pick<RollpackerInput, 'onRestart' | 'kvBytesPerToken' | 'rewardKindByDomain' | 'trainingReplicas'> {
  /** The recipe knows the engines, and places all requests. */
  placement: 'policy';
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
  /** How rewards are computed where nothing else says so. */
  defaultRewardKind: 'rule' | 'sandbox' | 'judge';
  /** Budgets of the kinds, for requests that bring none of their own. */
  rewardBudgetSeconds: RewardDispatchConfig['budgetSeconds'];
  /** Retry budgets of each response. */
  rewardRetry: RewardDispatchConfig['retry'];
  /** What a response is given that ran out of time for good: `timeoutReward`, or no reward at all. */
  onRewardTimeout: 'reward' | 'fail';
  /** `adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits. */
  scaleDownTrigger: 'adaptive' | number;
  /** Chance that the KV cache of every remaining engine stays below its projected peak. A number, 0.5 to 0.9999. */
  kvQuantile: number;
}

/** What `rollpacker` is told. */
export type RollpackerEvent =
  | EngineAdded | EngineDrained | EngineLost | GpusReleaseFailed | GpusReleased | GpusReturned | HostRestarted
  | KindTpFailed | MigrationFailed | OptimizerStepped | ProfileMeasured | ProfileObserved | ProgressReported
  | PromptJudged | PromptsSupplied | ReplicaAdded | ReplicaLost | RequestAborted | RequestMigrated | RequestProgressed
  | RequestStarted | ResponseCompleted | ResponseFailed | RewardFinished | RewardStarted | RewardWorkerAdded
  | RewardWorkerDrained | RewardWorkerLost | RoundFailed | RoundRequested | SandboxReportRequested | SourceExhausted
  | SourceReopened | StepFinished | TimerFired | ToolFinished | ToolStarted | TrainConsumed | TrainFinished
  | TurnFinished;

/** What `rollpacker` asks of the host. */
export type RollpackerCommand =
  | GpusReclaim | GpusRelease | GradientScale | GradientsDiscard | GradientsOffload | GradientsReload | JudgePlace
  | JudgementRequest | KindTpSet | MigrationCancel | OptimizerStep | ProfileMeasure | ProgressQuery | PromptsRequest
  | ReferenceCompute | RequestAbort | RequestLaunch | RequestMigrate | RequestResume | RewardCancel | RewardDispatch
  | RewardRequest | RoundTpSet | SandboxRun | TimerSet | TrainFetch | TrainFinish | WeightsSwap;

/** What `rollpacker` lets others know. */
export type RollpackerNotice =
  | GroupLate | GroupRewarded | GroupUnrewarded | GroupWithdrawn | GroupsDropped | JudgementLate | KindTpKept
  | MigrationAbandoned | PromptCarried | PromptCollected | PromptCounted | PromptDeferred | PromptFailed
  | PromptFiltered | PromptMerged | PromptReturned | PromptsReleased | RequestExpired | ResponseAbandoned
  | ResponseAccepted | ResponseDropped | ResponseLate | ResponseSurplus | RewardCancelled | RewardExpired | RewardFailed
  | RewardLate | RewardMerged | RewardScored | RewardUnused | RewardsResumed | RewardsSaturated | RoundCompleted
  | RoundDrained | RoundPlanned | RoundRewarded | RoundTrained | SandboxLate | SandboxReport | SandboxScored
  | SandboxUnscored | ScaleDownLate | ScaleDownRejected | SourceDrained | SpeculationChosen | TrainRequeued
  | TrainingLate | TriesRecovered | TriesSuspended;

/** What `rollpacker` answers. */
export type RollpackerDecision = RollpackerCommand | RollpackerNotice;

/** All types of `rollpacker`, for its definition. */
export interface RollpackerTypes {
  /** Id of the definition. */
  readonly id: 'rollpacker';
  /** Configuration, as a caller writes it. */
  readonly input: RollpackerInput;
  /** Configuration, its defaults filled in. */
  readonly config: RollpackerConfig;
  /** What it is told. */
  readonly event: RollpackerEvent;
  /** What it answers. */
  readonly decision: RollpackerDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: RollpackerCommand['type'];
}
