// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `lossless-tail`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  ChunkAwaited,
  ChunkContinue,
  ChunkFinished,
  ChunkLate,
  ChunksRequested,
  EngineAdded,
  EngineDrained,
  EngineLost,
  EngineReported,
  EnginesChanged,
  HostRestarted,
  JudgementLate,
  JudgementRequest,
  PromptCarried,
  PromptCollected,
  PromptCounted,
  PromptDeferred,
  PromptFailed,
  PromptFiltered,
  PromptJudged,
  PromptMerged,
  PromptReturned,
  PromptsRequest,
  PromptsSupplied,
  RequestAbort,
  RequestAborted,
  RequestEnded,
  RequestExpired,
  RequestLaunch,
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
  RewardFailed,
  RewardReady,
  RewardRequest,
  RoundCompleted,
  RoundDrained,
  RoundFailed,
  RoundPlanned,
  RoundRequested,
  SourceDrained,
  SourceExhausted,
  SourceReopened,
  SpeculationChosen,
  TimerFired,
  TimerSet,
  ToolFinished,
  ToolStarted,
  TriesRecovered,
  TriesSuspended,
  TurnFinished,
} from '../messages/index.ts';

/** Configuration of `lossless-tail`, as a caller writes it. */
export interface LosslessTailInput {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses that a prompt needs (the group size). A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * Who chooses the engine of a request.
   *
   * @defaultValue `'host'`
   */
  placement?: 'policy' | 'host' | undefined;
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
  /**
   * What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under
   * their ids, as trajectories do whose finished turns the host has kept.
   */
  onRestart?: 'launch' | 'continue' | undefined;
  /**
   * Prefix of every request id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
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
  /** Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole. */
  dividedRollout?:
    | {
        /**
         * Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more.
         *
         * @defaultValue `400000`
         */
        kvCapacityTokens?: number | undefined;
        /**
         * Part of its KV cache that the chunks of an engine may fill. A number, 0.05 to 1.
         *
         * @defaultValue `0.97`
         */
        budgetShare?: number | undefined;
        /**
         * A request that has waited so long for room, in seconds, is next. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `14400`
         */
        maxWaitSeconds?: number | undefined;
        /**
         * Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more.
         *
         * @defaultValue `10000`
         */
        prefillTokensPerSecond?: number | undefined;
        /**
         * Tokens of a context that an engine loads in a second from a KV cache that engines share; absent: there is
         * none, and an engine reads the context again. A number, 1 or more.
         */
        poolTokensPerSecond?: number | undefined;
        /**
         * What a chunk costs its response, in seconds, beside its tokens: the way to the host and back. A number, 0 or
         * more.
         *
         * @defaultValue `0.03`
         */
        chunkSeconds?: number | undefined;
        /** How long an engine takes to generate a token for each of its responses. The order of magnitude is enough. */
        decode?:
          | {
              /**
               * Seconds of a step, whatever runs. A number, 0 or more.
               *
               * @defaultValue `0.01`
               */
              stepSeconds?: number | undefined;
              /**
               * Seconds that each running response adds to a step. A number, 0 or more.
               *
               * @defaultValue `0.0002`
               */
              sequenceSeconds?: number | undefined;
              /**
               * Seconds that each token in the contexts of running responses adds to a step. A number, 0 or more.
               *
               * @defaultValue `3e-8`
               */
              contextTokenSeconds?: number | undefined;
            }
          | undefined;
        /**
         * Prompts whose lengths are remembered, for when they return. A whole number, 1 to 10,000,000.
         *
         * @defaultValue `1000000`
         */
        rememberedPrompts?: number | undefined;
      }
    | undefined;
}

/** Configuration of `lossless-tail`, its defaults filled in. */
export interface LosslessTailConfig {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses that a prompt needs (the group size). A whole number, 1 or more. */
  responsesPerPrompt: number;
  /** Who chooses the engine of a request. */
  placement: 'policy' | 'host';
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
  /** Whether a round may open before the last one has drained. */
  allowOverlap: boolean;
  /** Seconds until an unconfirmed abort frees its engine slot. A number above 0. */
  abortGraceSeconds: number;
  /**
   * Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never if
   * absent. A number above 0.
   */
  responseTimeoutSeconds?: number | undefined;
  /**
   * What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under
   * their ids, as trajectories do whose finished turns the host has kept.
   */
  onRestart?: 'launch' | 'continue' | undefined;
  /** Prefix of every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /**
   * Weight versions that a token may lag behind. 0: on policy, every round waits for all of its prompts. More: partial
   * rollout, a round leaves its last prompts to the next ones, which go on from their tokens. A whole number.
   */
  maxStaleness: number;
  /**
   * With `maxStaleness` above 0: prompts in a round over those that it trains on; 1.25 if absent. Up to 2, no token
   * becomes too old. A number, 1 to 16.
   */
  promptSpeculation?: number | undefined;
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
  /** Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole. */
  dividedRollout?:
    | {
        /** Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more. */
        kvCapacityTokens: number;
        /** Part of its KV cache that the chunks of an engine may fill. A number, 0.05 to 1. */
        budgetShare: number;
        /** A request that has waited so long for room, in seconds, is next. A number above 0 and at most 1,000,000. */
        maxWaitSeconds: number;
        /**
         * Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more.
         */
        prefillTokensPerSecond: number;
        /**
         * Tokens of a context that an engine loads in a second from a KV cache that engines share; absent: there is
         * none, and an engine reads the context again. A number, 1 or more.
         */
        poolTokensPerSecond?: number | undefined;
        /**
         * What a chunk costs its response, in seconds, beside its tokens: the way to the host and back. A number, 0 or
         * more.
         */
        chunkSeconds: number;
        /** How long an engine takes to generate a token for each of its responses. The order of magnitude is enough. */
        decode: {
          /** Seconds of a step, whatever runs. A number, 0 or more. */
          stepSeconds: number;
          /** Seconds that each running response adds to a step. A number, 0 or more. */
          sequenceSeconds: number;
          /** Seconds that each token in the contexts of running responses adds to a step. A number, 0 or more. */
          contextTokenSeconds: number;
        };
        /** Prompts whose lengths are remembered, for when they return. A whole number, 1 to 10,000,000. */
        rememberedPrompts: number;
      }
    | undefined;
}

/** What `lossless-tail` is told. */
export type LosslessTailEvent =
  | ChunkFinished
  | ChunksRequested
  | EngineAdded
  | EngineDrained
  | EngineLost
  | EngineReported
  | EnginesChanged
  | HostRestarted
  | PromptJudged
  | PromptsSupplied
  | Reported<RewardFailed>
  | RequestAborted
  | RequestProgressed
  | RequestStarted
  | ResponseCompleted
  | ResponseFailed
  | RewardReady
  | RoundFailed
  | RoundRequested
  | SourceExhausted
  | SourceReopened
  | TimerFired
  | ToolFinished
  | ToolStarted
  | TurnFinished;

/** What `lossless-tail` asks of the host. */
export type LosslessTailCommand =
  | ChunkContinue
  | JudgementRequest
  | PromptsRequest
  | RequestAbort
  | RequestLaunch
  | RequestResume
  | RewardRequest
  | TimerSet;

/** What `lossless-tail` lets others know. */
export type LosslessTailNotice =
  | ChunkAwaited
  | ChunkLate
  | JudgementLate
  | PromptCarried
  | PromptCollected
  | PromptCounted
  | PromptDeferred
  | PromptFailed
  | PromptFiltered
  | PromptMerged
  | PromptReturned
  | RequestEnded
  | RequestExpired
  | ResponseAbandoned
  | ResponseAccepted
  | ResponseDropped
  | ResponseLate
  | ResponseSurplus
  | RoundCompleted
  | RoundDrained
  | RoundPlanned
  | SourceDrained
  | SpeculationChosen
  | TriesRecovered
  | TriesSuspended;

/** What `lossless-tail` answers. */
export type LosslessTailDecision = LosslessTailCommand | LosslessTailNotice;
