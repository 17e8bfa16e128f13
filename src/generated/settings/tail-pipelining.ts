// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `tail-pipelining`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded, EngineDrained, EngineLost, EnginesChanged, FrontierResized, FrontierStarved, GroupLate, GroupLeft,
  GroupRewarded, GroupsDropped, GroupTrainable, GroupUnrewarded, GroupWithdrawn, HostRestarted, JudgementLate,
  JudgementRequest, OptimizerStep, OptimizerStepped, PipelineMeasured, PromptCarried, PromptCollected, PromptCounted,
  PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged, PromptReturned, PromptsReleased,
  PromptsRequest, PromptsSupplied, RequestAbort, RequestAborted, RequestAdmit, RequestDeferred, RequestDropped,
  RequestExpired, RequestLaunch, RequestProgressed, RequestResume, RequestStarted, ResponseAbandoned, ResponseAccepted,
  ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed, RewardReady,
  RewardRequest, RewardUnused, RoundCompleted, RoundDrained, RoundFailed, RoundPlanned, RoundRequested, RoundRewarded,
  RoundTrained, SourceDrained, SourceExhausted, SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished,
  ToolStarted, TrainDispatch, TrainerRestarted, TrainingLate, TriesRecovered, TriesSuspended, TurnFinished,
  UpdateCancel, UpdateConsumed, UpdateLost, WeightsPublish, WeightsPublished,
} from '../messages/index.ts';
import type { CompleteGroupPipeliningConfig, CompleteGroupPipeliningInput } from './complete-group-pipelining.ts';
import type { FrontierGroupDispatchConfig, FrontierGroupDispatchInput } from './frontier-group-dispatch.ts';
import type { LongPromptQueueConfig, LongPromptQueueInput } from './long-prompt-queue.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';

/** Configuration of `tail-pipelining`, as a caller writes it. */
export interface TailPipeliningInput
  extends Omit<SpeculativeAdmissionInput, 'partialRollout' | 'maxStaleness' | 'onRestart'>,
    Omit<CompleteGroupPipeliningInput, 'responsesPerPrompt' | 'filter' | 'otherVersions' | 'varianceTolerance' |
      'idPrefix'>,
    Pick<LongPromptQueueInput, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<FrontierGroupDispatchInput, 'startRequests' | 'starvedShare'> {
  /**
   * Deferred prompts begin anew: their tokens would be stale.
   *
   * @defaultValue `false`
   */
  partialRollout?: false | undefined;
  /**
   * Every sample is of the weights of its round.
   *
   * @defaultValue `0`
   */
  maxStaleness?: 0 | undefined;
  /** Requests are launched anew when the host restarts. */
  onRestart?: 'launch' | undefined;
  /**
   * Whether launches wait for `request.admit`, groups of at most `width` prompts at once.
   *
   * @defaultValue `false`
   */
  frontier?: boolean | undefined;
  /** F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`. */
  width?: number | 'auto' | undefined;
}

/** Configuration of `tail-pipelining`, its defaults filled in. */
export interface TailPipeliningConfig
  extends Omit<SpeculativeAdmissionConfig, 'partialRollout' | 'maxStaleness' | 'onRestart'>,
    Omit<CompleteGroupPipeliningConfig, 'responsesPerPrompt' | 'filter' | 'otherVersions' | 'varianceTolerance' |
      'idPrefix'>,
    Pick<LongPromptQueueConfig, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<FrontierGroupDispatchConfig, 'startRequests' | 'starvedShare'>,
    Pick<TailPipeliningInput, 'onRestart' | 'width'> {
  /** Deferred prompts begin anew: their tokens would be stale. */
  partialRollout: false;
  /** Every sample is of the weights of its round. */
  maxStaleness: 0;
  /** Whether launches wait for `request.admit`, groups of at most `width` prompts at once. */
  frontier: boolean;
}

/** What `tail-pipelining` is told. */
export type TailPipeliningEvent =
  | EngineAdded | EngineDrained | EngineLost | EnginesChanged | HostRestarted | OptimizerStepped | PromptJudged
  | PromptsSupplied | Reported<RewardFailed> | RequestAborted | RequestProgressed | RequestStarted | ResponseCompleted
  | ResponseFailed | RewardReady | RoundFailed | RoundRequested | SourceExhausted | SourceReopened | TimerFired
  | ToolFinished | ToolStarted | TrainerRestarted | TurnFinished | UpdateConsumed | UpdateLost | WeightsPublished;

/** What `tail-pipelining` asks of the host. */
export type TailPipeliningCommand =
  | JudgementRequest | OptimizerStep | PromptsRequest | RequestAbort | RequestAdmit | RequestLaunch | RequestResume
  | RewardRequest | TimerSet | TrainDispatch | UpdateCancel | WeightsPublish;

/** What `tail-pipelining` lets others know. */
export type TailPipeliningNotice =
  | FrontierResized | FrontierStarved | GroupLate | GroupLeft | GroupRewarded | GroupTrainable | GroupUnrewarded
  | GroupWithdrawn | GroupsDropped | JudgementLate | PipelineMeasured | PromptCarried | PromptCollected | PromptCounted
  | PromptDeferred | PromptFailed | PromptFiltered | PromptMerged | PromptReturned | PromptsReleased | RequestDeferred
  | RequestDropped | RequestExpired | ResponseAbandoned | ResponseAccepted | ResponseDropped | ResponseLate
  | ResponseSurplus | RewardUnused | RoundCompleted | RoundDrained | RoundPlanned | RoundRewarded | RoundTrained
  | SourceDrained | SpeculationChosen | TrainingLate | TriesRecovered | TriesSuspended;

/** What `tail-pipelining` answers. */
export type TailPipeliningDecision = TailPipeliningCommand | TailPipeliningNotice;

/** All types of `tail-pipelining`, for its definition. */
export interface TailPipeliningTypes {
  /** Id of the definition. */
  readonly id: 'tail-pipelining';
  /** Configuration, as a caller writes it. */
  readonly input: TailPipeliningInput;
  /** Configuration, its defaults filled in. */
  readonly config: TailPipeliningConfig;
  /** What it is told. */
  readonly event: TailPipeliningEvent;
  /** What it answers. */
  readonly decision: TailPipeliningDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: TailPipeliningCommand['type'];
}
