// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `agentic-rollout`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded, EngineDrained, EngineFreed, EngineLost, EngineReported, EnginesChanged, HostRestarted, JudgementLate,
  JudgementRequest, KvRetain, ProgramAwaited, ProgramEnded, ProgramLate, ProgramPause, ProgramResume, PromptCarried,
  PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged,
  PromptReturned, PromptsReleased, PromptsRequest, PromptsSupplied, RequestAbort, RequestAborted, RequestExpired,
  RequestLaunch, RequestProgressed, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseCompleted,
  ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed, RewardReady, RewardRequest,
  RoundCompleted, RoundDrained, RoundFailed, RoundPlanned, RoundRequested, SlotAssign, SlotDenied, SlotExpired,
  SlotFailed, SlotLate, SlotPrewarm, SlotReady, SlotReclaim, SlotReleased, SlotRequested, SlotsChanged, SlotsRecovered,
  SlotsSuspended, SourceDrained, SourceExhausted, SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished,
  ToolStarted, TriesRecovered, TriesSuspended, TurnFinished, TurnRequested, TurnRoute,
} from '../messages/index.ts';
import type { EnvironmentSlotsConfig, EnvironmentSlotsInput } from './environment-slots.ts';
import type { LongPromptQueueConfig, LongPromptQueueInput } from './long-prompt-queue.ts';
import type { ProgramSchedulingConfig, ProgramSchedulingInput } from './program-scheduling.ts';
import type { RoundCompositionConfig, RoundCompositionInput } from './round-composition.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';

/** Configuration of `agentic-rollout`, as a caller writes it. */
export interface AgenticRolloutInput
  extends Omit<SpeculativeAdmissionInput, 'placement' | 'maxInFlightPerEngine' | 'onRestart'>,
    Omit<EnvironmentSlotsInput, 'retries' | 'idPrefix'>,
    ProgramSchedulingInput,
    Pick<LongPromptQueueInput, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<RoundCompositionInput, 'windowRounds' | 'rememberedPrompts'> {
  /**
   * Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in
   * `tail-batching`.
   *
   * @defaultValue `false`
   */
  composition?: boolean | undefined;
  /**
   * Kind of the environment that every trajectory needs; it is asked for when the trajectory is launched. Absent: none,
   * or the host asks itself, by `slot.requested`. At most 512 characters.
   */
  environment?: string | undefined;
}

/** Configuration of `agentic-rollout`, its defaults filled in. */
export interface AgenticRolloutConfig
  extends Omit<SpeculativeAdmissionConfig, 'placement' | 'maxInFlightPerEngine' | 'onRestart'>,
    Omit<EnvironmentSlotsConfig, 'retries' | 'idPrefix'>,
    ProgramSchedulingConfig,
    Pick<RoundCompositionConfig, 'windowRounds' | 'rememberedPrompts'>,
    Pick<LongPromptQueueConfig, 'order' | 'maxDeferrals' | 'maxWaitRounds'>,
    Pick<AgenticRolloutInput, 'environment'> {
  /**
   * Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in
   * `tail-batching`.
   */
  composition: boolean;
}

/** What `agentic-rollout` is told. */
export type AgenticRolloutEvent =
  | EngineAdded | EngineDrained | EngineLost | EngineReported | EnginesChanged | HostRestarted | PromptJudged
  | PromptsSupplied | Reported<RewardFailed> | RequestAborted | RequestProgressed | ResponseCompleted | ResponseFailed
  | RewardReady | RoundFailed | RoundRequested | SlotFailed | SlotReady | SlotReleased | SlotRequested | SlotsChanged
  | SourceExhausted | SourceReopened | TimerFired | ToolFinished | ToolStarted | TurnFinished | TurnRequested;

/** What `agentic-rollout` asks of the host. */
export type AgenticRolloutCommand =
  | JudgementRequest | KvRetain | ProgramPause | ProgramResume | PromptsRequest | RequestAbort | RequestLaunch
  | RequestResume | RewardRequest | SlotAssign | SlotPrewarm | SlotReclaim | TimerSet | TurnRoute;

/** What `agentic-rollout` lets others know. */
export type AgenticRolloutNotice =
  | EngineFreed | JudgementLate | ProgramAwaited | ProgramEnded | ProgramLate | PromptCarried | PromptCollected
  | PromptCounted | PromptDeferred | PromptFailed | PromptFiltered | PromptMerged | PromptReturned | PromptsReleased
  | RequestExpired | ResponseAbandoned | ResponseAccepted | ResponseDropped | ResponseLate | ResponseSurplus
  | RoundCompleted | RoundDrained | RoundPlanned | SlotDenied | SlotExpired | SlotLate | SlotsRecovered | SlotsSuspended
  | SourceDrained | SpeculationChosen | TriesRecovered | TriesSuspended;

/** What `agentic-rollout` answers. */
export type AgenticRolloutDecision = AgenticRolloutCommand | AgenticRolloutNotice;

/** All types of `agentic-rollout`, for its definition. */
export interface AgenticRolloutTypes {
  /** Id of the definition. */
  readonly id: 'agentic-rollout';
  /** Configuration, as a caller writes it. */
  readonly input: AgenticRolloutInput;
  /** Configuration, its defaults filled in. */
  readonly config: AgenticRolloutConfig;
  /** What it is told. */
  readonly event: AgenticRolloutEvent;
  /** What it answers. */
  readonly decision: AgenticRolloutDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: AgenticRolloutCommand['type'];
}
