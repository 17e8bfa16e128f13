// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `tail-batching`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded, EngineDrained, EngineLost, EnginesChanged, HostRestarted, JudgementLate, JudgementRequest, PromptCarried,
  PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged,
  PromptReturned, PromptsReleased, PromptsRequest, PromptsSupplied, RequestAbort, RequestAborted, RequestExpired,
  RequestLaunch, RequestProgressed, RequestResume, RequestStarted, ResponseAbandoned, ResponseAccepted,
  ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed, RewardReady,
  RewardRequest, RoundCompleted, RoundDrained, RoundFailed, RoundPlanned, RoundRequested, SourceDrained,
  SourceExhausted, SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished, ToolStarted, TriesRecovered,
  TriesSuspended, TurnFinished,
} from '../messages/index.ts';
import type { LongPromptQueueConfig, LongPromptQueueInput } from './long-prompt-queue.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';

/** Configuration of `tail-batching`, as a caller writes it. */
export interface TailBatchingInput
  extends SpeculativeAdmissionInput,
    Pick<LongPromptQueueInput, 'order' | 'maxDeferrals' | 'maxWaitRounds'> {}

/** Configuration of `tail-batching`, its defaults filled in. */
export interface TailBatchingConfig
  extends SpeculativeAdmissionConfig,
    Pick<LongPromptQueueConfig, 'order' | 'maxDeferrals' | 'maxWaitRounds'> {}

/** What `tail-batching` is told. */
export type TailBatchingEvent =
  | EngineAdded | EngineDrained | EngineLost | EnginesChanged | HostRestarted | PromptJudged | PromptsSupplied
  | Reported<RewardFailed> | RequestAborted | RequestProgressed | RequestStarted | ResponseCompleted | ResponseFailed
  | RewardReady | RoundFailed | RoundRequested | SourceExhausted | SourceReopened | TimerFired | ToolFinished
  | ToolStarted | TurnFinished;

/** What `tail-batching` asks of the host. */
export type TailBatchingCommand =
  | JudgementRequest | PromptsRequest | RequestAbort | RequestLaunch | RequestResume | RewardRequest | TimerSet;

/** What `tail-batching` lets others know. */
export type TailBatchingNotice =
  | JudgementLate | PromptCarried | PromptCollected | PromptCounted | PromptDeferred | PromptFailed | PromptFiltered
  | PromptMerged | PromptReturned | PromptsReleased | RequestExpired | ResponseAbandoned | ResponseAccepted
  | ResponseDropped | ResponseLate | ResponseSurplus | RoundCompleted | RoundDrained | RoundPlanned | SourceDrained
  | SpeculationChosen | TriesRecovered | TriesSuspended;

/** What `tail-batching` answers. */
export type TailBatchingDecision = TailBatchingCommand | TailBatchingNotice;

/** All types of `tail-batching`, for its definition. */
export interface TailBatchingTypes {
  /** Id of the definition. */
  readonly id: 'tail-batching';
  /** Configuration, as a caller writes it. */
  readonly input: TailBatchingInput;
  /** Configuration, its defaults filled in. */
  readonly config: TailBatchingConfig;
  /** What it is told. */
  readonly event: TailBatchingEvent;
  /** What it answers. */
  readonly decision: TailBatchingDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: TailBatchingCommand['type'];
}
