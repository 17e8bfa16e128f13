// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `lossless-tail`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  ChunkAwaited, ChunkContinue, ChunkFinished, ChunkLate, ChunksRequested, EngineAdded, EngineDrained, EngineLost,
  EngineReported, EnginesChanged, HostRestarted, JudgementLate, JudgementRequest, PromptCarried, PromptCollected,
  PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged, PromptReturned,
  PromptsRequest, PromptsSupplied, RequestAbort, RequestAborted, RequestEnded, RequestExpired, RequestLaunch,
  RequestProgressed, RequestResume, RequestStarted, ResponseAbandoned, ResponseAccepted, ResponseCompleted,
  ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed, RewardReady, RewardRequest,
  RoundCompleted, RoundDrained, RoundFailed, RoundPlanned, RoundRequested, SourceDrained, SourceExhausted,
  SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished, ToolStarted, TriesRecovered, TriesSuspended,
  TurnFinished,
} from '../messages/index.ts';
import type { DividedRolloutConfig, DividedRolloutInput } from './divided-rollout.ts';
import type { RoundCompositionConfig, RoundCompositionInput } from './round-composition.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';

/** Configuration of `lossless-tail`, as a caller writes it. */
export interface LosslessTailInput
  extends Omit<SpeculativeAdmissionInput, 'speculation' | 'promptSpeculation' | 'responseSpeculation' | 'quotas' |
      'partialRollout' | 'maxStaleness'>,
    Pick<RoundCompositionInput, 'windowRounds' | 'rememberedPrompts'> {
  /**
   * Weight versions that a token may lag behind. 0: on policy, every round waits for all of its prompts. More: partial
   * rollout, a round leaves its last prompts to the next ones, which go on from their tokens. A whole number.
   *
   * @defaultValue `0`
   */
  maxStaleness?: number | undefined;
  /**
   * With `maxStaleness` above 0: prompts in a round over those that it trains on; 1.25 if absent. Up to 2, no token
   * becomes too old. A number, 1 to 16.
   */
  promptSpeculation?: number | undefined;
  /** Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole. */
  dividedRollout?: DividedRolloutInput | undefined;
}

/** Configuration of `lossless-tail`, its defaults filled in. */
export interface LosslessTailConfig
  extends Omit<SpeculativeAdmissionConfig, 'speculation' | 'promptSpeculation' | 'responseSpeculation' | 'quotas' |
      'partialRollout' | 'maxStaleness'>,
    Pick<RoundCompositionConfig, 'windowRounds' | 'rememberedPrompts'>,
    Pick<LosslessTailInput, 'promptSpeculation'> {
  /**
   * Weight versions that a token may lag behind. 0: on policy, every round waits for all of its prompts. More: partial
   * rollout, a round leaves its last prompts to the next ones, which go on from their tokens. A whole number.
   */
  maxStaleness: number;
  /** Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole. */
  dividedRollout?: DividedRolloutConfig | undefined;
}

/** What `lossless-tail` is told. */
export type LosslessTailEvent =
  | ChunkFinished | ChunksRequested | EngineAdded | EngineDrained | EngineLost | EngineReported | EnginesChanged
  | HostRestarted | PromptJudged | PromptsSupplied | Reported<RewardFailed> | RequestAborted | RequestProgressed
  | RequestStarted | ResponseCompleted | ResponseFailed | RewardReady | RoundFailed | RoundRequested | SourceExhausted
  | SourceReopened | TimerFired | ToolFinished | ToolStarted | TurnFinished;

/** What `lossless-tail` asks of the host. */
export type LosslessTailCommand =
  | ChunkContinue | JudgementRequest | PromptsRequest | RequestAbort | RequestLaunch | RequestResume | RewardRequest
  | TimerSet;

/** What `lossless-tail` lets others know. */
export type LosslessTailNotice =
  | ChunkAwaited | ChunkLate | JudgementLate | PromptCarried | PromptCollected | PromptCounted | PromptDeferred
  | PromptFailed | PromptFiltered | PromptMerged | PromptReturned | RequestEnded | RequestExpired | ResponseAbandoned
  | ResponseAccepted | ResponseDropped | ResponseLate | ResponseSurplus | RoundCompleted | RoundDrained | RoundPlanned
  | SourceDrained | SpeculationChosen | TriesRecovered | TriesSuspended;

/** What `lossless-tail` answers. */
export type LosslessTailDecision = LosslessTailCommand | LosslessTailNotice;

/** All types of `lossless-tail`, for its definition. */
export interface LosslessTailTypes {
  /** Id of the definition. */
  readonly id: 'lossless-tail';
  /** Configuration, as a caller writes it. */
  readonly input: LosslessTailInput;
  /** Configuration, its defaults filled in. */
  readonly config: LosslessTailConfig;
  /** What it is told. */
  readonly event: LosslessTailEvent;
  /** What it answers. */
  readonly decision: LosslessTailDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: LosslessTailCommand['type'];
}
