// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `tail-batching`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded, EngineDrained, EngineLost, EnginesChanged, EpochEnded, GroupRewarded, HostRestarted, JudgementLate,
  JudgementRequest, PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered,
  PromptJudged, PromptMerged, PromptReturned, PromptsPassed, PromptsReleased, PromptsRequest, PromptsSelected,
  PromptsSupplied, RequestAbort, RequestAborted, RequestExpired, RequestLaunch, RequestProgressed, RequestResume,
  RequestStarted, ResponseAbandoned, ResponseAccepted, ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate,
  ResponseSurplus, RewardFailed, RewardReady, RewardRequest, RoundCompleted, RoundDrained, RoundFailed, RoundPlanned,
  RoundRequested, SourceDrained, SourceExhausted, SourceReopened, SpeculationChosen, TimerFired, TimerSet, ToolFinished,
  ToolStarted, TriesRecovered, TriesSuspended, TurnFinished,
} from '../messages/index.ts';
import type { LongPromptQueueConfig, LongPromptQueueInput } from './long-prompt-queue.ts';
import type { SpeculativeAdmissionConfig, SpeculativeAdmissionInput } from './speculative-admission.ts';

/** Configuration of `tail-batching`, as a caller writes it. */
export interface TailBatchingInput
  extends SpeculativeAdmissionInput,
    Pick<LongPromptQueueInput, 'order' | 'maxDeferrals' | 'maxWaitRounds'> {
  /**
   * Prompts are taken by what their responses are expected to teach, by `prompt-selection` with these settings; with a
   * filter, rounds begin as many as are likely to be kept, in place of `promptSpeculation`. Absent: all, in the order
   * of the data.
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
         * A prompt is passed over so many times in a row at most, that is, for so many epochs. A whole number, 0 or
         * more.
         *
         * @defaultValue `16`
         */
        maxPasses?: number | undefined;
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
         * Prompts of which rewards and lengths are remembered; the others count as new ones of their domain. A whole
         * number, 1 to 10,000,000.
         *
         * @defaultValue `1000000`
         */
        rememberedPrompts?: number | undefined;
        /**
         * Seed of the draws. A whole number, 0 to 4,294,967,295.
         *
         * @defaultValue `0`
         */
        seed?: number | undefined;
        /**
         * Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all
         * prompts.
         *
         * @defaultValue `false`
         */
        unbiased?: boolean | undefined;
      }
    | undefined;
}

/** Configuration of `tail-batching`, its defaults filled in. */
export interface TailBatchingConfig
  extends SpeculativeAdmissionConfig,
    Pick<LongPromptQueueConfig, 'order' | 'maxDeferrals' | 'maxWaitRounds'> {
  /**
   * Prompts are taken by what their responses are expected to teach, by `prompt-selection` with these settings; with a
   * filter, rounds begin as many as are likely to be kept, in place of `promptSpeculation`. Absent: all, in the order
   * of the data.
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
         * A prompt is passed over so many times in a row at most, that is, for so many epochs. A whole number, 0 or
         * more.
         */
        maxPasses: number;
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
        /**
         * Prompts of which rewards and lengths are remembered; the others count as new ones of their domain. A whole
         * number, 1 to 10,000,000.
         */
        rememberedPrompts: number;
        /** Seed of the draws. A whole number, 0 to 4,294,967,295. */
        seed: number;
        /**
         * Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all
         * prompts.
         */
        unbiased: boolean;
      }
    | undefined;
}

/** What `tail-batching` is told. */
export type TailBatchingEvent =
  | EngineAdded | EngineDrained | EngineLost | EnginesChanged | GroupRewarded | HostRestarted | PromptJudged
  | PromptsSupplied | Reported<RewardFailed> | RequestAborted | RequestProgressed | RequestStarted | ResponseCompleted
  | ResponseFailed | RewardReady | RoundFailed | RoundRequested | SourceExhausted | SourceReopened | TimerFired
  | ToolFinished | ToolStarted | TurnFinished;

/** What `tail-batching` asks of the host. */
export type TailBatchingCommand =
  | JudgementRequest | PromptsRequest | RequestAbort | RequestLaunch | RequestResume | RewardRequest | TimerSet;

/** What `tail-batching` lets others know. */
export type TailBatchingNotice =
  | EpochEnded | JudgementLate | PromptCarried | PromptCollected | PromptCounted | PromptDeferred | PromptFailed
  | PromptFiltered | PromptMerged | PromptReturned | PromptsPassed | PromptsReleased | PromptsSelected | RequestExpired
  | ResponseAbandoned | ResponseAccepted | ResponseDropped | ResponseLate | ResponseSurplus | RoundCompleted
  | RoundDrained | RoundPlanned | SourceDrained | SpeculationChosen | TriesRecovered | TriesSuspended;

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
