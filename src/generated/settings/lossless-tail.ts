// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `lossless-tail`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  ChunkAwaited, ChunkContinue, ChunkFinished, ChunkLate, ChunksRequested, EngineAdded, EngineDrained, EngineLost,
  EngineReported, EnginesChanged, EpochEnded, GroupRewarded, HostRestarted, JudgementLate, JudgementRequest,
  PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptJudged,
  PromptMerged, PromptReturned, PromptsRequest, PromptsSelected, PromptsSupplied, RequestAbort, RequestAborted,
  RequestEnded, RequestExpired, RequestLaunch, RequestProgressed, RequestResume, RequestStarted, ResponseAbandoned,
  ResponseAccepted, ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed,
  RewardReady, RewardRequest, RoundCompleted, RoundDrained, RoundFailed, RoundPlanned, RoundRequested, SourceDrained,
  SourceExhausted, SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished, ToolStarted, TriesRecovered,
  TriesSuspended, TurnFinished,
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
  /**
   * Prompts whose responses are expected to teach most come first, by `prompt-selection` with these settings; each is
   * trained in every epoch. Absent: in the order of the data.
   */
  promptSelection?:
    | {
        /**
         * `binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale.
         *
         * @defaultValue `'binary'`
         */
        rewards?: 'binary' | 'real' | undefined;
        /**
         * With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1.
         *
         * @defaultValue `1`
         */
        passReward?: number | undefined;
        /**
         * That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by
         * their variance.
         *
         * @defaultValue `'std'`
         */
        normalization?: 'std' | 'none' | undefined;
        /**
         * Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token.
         *
         * @defaultValue `0.5`
         */
        lengthExponent?: number | undefined;
        /**
         * A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance
         * (worth ÷ that)². 0: each is taken. A number, 0 to 16.
         *
         * @defaultValue `1`
         */
        threshold?: number | undefined;
        /**
         * Least chance with which a prompt is taken when it is offered, whatever it is worth. A number, 0 to 1.
         *
         * @defaultValue `0.02`
         */
        explorationShare?: number | undefined;
        /**
         * A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no
         * such floor. A number, 0 to 1.
         *
         * @defaultValue `0.25`
         */
        domainFloor?: number | undefined;
        /**
         * A round passes nothing over any more once so many times the prompts that it needs were offered. A whole
         * number, 1 to 1,000.
         *
         * @defaultValue `8`
         */
        maxOffered?: number | undefined;
        /**
         * Share of the weight of what is known about a prompt that remains after each new version of the weights. A
         * number, 0.01 to 1.
         *
         * @defaultValue `0.99`
         */
        retention?: number | undefined;
        /**
         * What is known of the domain counts as much as so many responses of the prompt itself. A number, 0.01 to
         * 1,000.
         *
         * @defaultValue `2`
         */
        priorResponses?: number | undefined;
        /**
         * Seed of the draws. A whole number, 0 to 4,294,967,295.
         *
         * @defaultValue `0`
         */
        seed?: number | undefined;
      }
    | undefined;
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
  /**
   * Prompts whose responses are expected to teach most come first, by `prompt-selection` with these settings; each is
   * trained in every epoch. Absent: in the order of the data.
   */
  promptSelection?:
    | {
        /** `binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale. */
        rewards: 'binary' | 'real';
        /** With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1. */
        passReward: number;
        /**
         * That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by
         * their variance.
         */
        normalization: 'std' | 'none';
        /** Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token. */
        lengthExponent: number;
        /**
         * A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance
         * (worth ÷ that)². 0: each is taken. A number, 0 to 16.
         */
        threshold: number;
        /** Least chance with which a prompt is taken when it is offered, whatever it is worth. A number, 0 to 1. */
        explorationShare: number;
        /**
         * A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no
         * such floor. A number, 0 to 1.
         */
        domainFloor: number;
        /**
         * A round passes nothing over any more once so many times the prompts that it needs were offered. A whole
         * number, 1 to 1,000.
         */
        maxOffered: number;
        /**
         * Share of the weight of what is known about a prompt that remains after each new version of the weights. A
         * number, 0.01 to 1.
         */
        retention: number;
        /**
         * What is known of the domain counts as much as so many responses of the prompt itself. A number, 0.01 to
         * 1,000.
         */
        priorResponses: number;
        /** Seed of the draws. A whole number, 0 to 4,294,967,295. */
        seed: number;
      }
    | undefined;
}

/** What `lossless-tail` is told. */
export type LosslessTailEvent =
  | ChunkFinished | ChunksRequested | EngineAdded | EngineDrained | EngineLost | EngineReported | EnginesChanged
  | GroupRewarded | HostRestarted | PromptJudged | PromptsSupplied | Reported<RewardFailed> | RequestAborted
  | RequestProgressed | RequestStarted | ResponseCompleted | ResponseFailed | RewardReady | RoundFailed | RoundRequested
  | SourceExhausted | SourceReopened | TimerFired | ToolFinished | ToolStarted | TurnFinished;

/** What `lossless-tail` asks of the host. */
export type LosslessTailCommand =
  | ChunkContinue | JudgementRequest | PromptsRequest | RequestAbort | RequestLaunch | RequestResume | RewardRequest
  | TimerSet;

/** What `lossless-tail` lets others know. */
export type LosslessTailNotice =
  | ChunkAwaited | ChunkLate | EpochEnded | JudgementLate | PromptCarried | PromptCollected | PromptCounted
  | PromptDeferred | PromptFailed | PromptFiltered | PromptMerged | PromptReturned | PromptsSelected | RequestEnded
  | RequestExpired | ResponseAbandoned | ResponseAccepted | ResponseDropped | ResponseLate | ResponseSurplus
  | RoundCompleted | RoundDrained | RoundPlanned | SourceDrained | SpeculationChosen | TriesRecovered | TriesSuspended;

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
