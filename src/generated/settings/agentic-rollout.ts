// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `agentic-rollout`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded,
  EngineDrained,
  EngineFreed,
  EngineLost,
  EngineReported,
  EnginesChanged,
  HostRestarted,
  JudgementLate,
  JudgementRequest,
  KvRetain,
  ProgramAwaited,
  ProgramEnded,
  ProgramLate,
  ProgramPause,
  ProgramResume,
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
  RequestAbort,
  RequestAborted,
  RequestExpired,
  RequestLaunch,
  RequestProgressed,
  RequestResume,
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
  SlotAssign,
  SlotDenied,
  SlotExpired,
  SlotFailed,
  SlotLate,
  SlotPrewarm,
  SlotReady,
  SlotReclaim,
  SlotReleased,
  SlotRequested,
  SlotsChanged,
  SlotsRecovered,
  SlotsSuspended,
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
  TurnRequested,
  TurnRoute,
} from '../messages/index.ts';

/** Configuration of `agentic-rollout`, as a caller writes it. */
export interface AgenticRolloutInput {
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
  /** Most requests in flight at once; unlimited if absent. A whole number, 1 or more. */
  maxInFlight?: number | undefined;
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
  /**
   * Prefix of every request id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
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
  /**
   * Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more.
   *
   * @defaultValue `400000`
   */
  kvCapacityTokens?: number | undefined;
  /**
   * Part of its KV cache that the programs of an engine may fill. A number, 0.05 to 1.
   *
   * @defaultValue `0.95`
   */
  budgetShare?: number | undefined;
  /**
   * No program is held back or paused for longer, in seconds, while there is an engine. A number above 0 and at most
   * 1,000,000.
   *
   * @defaultValue `1800`
   */
  maxPauseSeconds?: number | undefined;
  /**
   * Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more.
   *
   * @defaultValue `10000`
   */
  prefillTokensPerSecond?: number | undefined;
  /**
   * How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines,
   * so that others become free; absent: none is freed. A number, 1 to 100.
   */
  tailSlowdown?: number | undefined;
  /** How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. */
  decode?:
    | {
        /**
         * Seconds of a step, whatever runs. A number, 0 or more.
         *
         * @defaultValue `0.01`
         */
        stepSeconds?: number | undefined;
        /**
         * Seconds that each running turn adds to a step. A number, 0 or more.
         *
         * @defaultValue `0.0002`
         */
        sequenceSeconds?: number | undefined;
        /**
         * Seconds that each token in the contexts of running turns adds to a step. A number, 0 or more.
         *
         * @defaultValue `3e-8`
         */
        contextTokenSeconds?: number | undefined;
      }
    | undefined;
  /**
   * Most environments of each kind at the start; `slots.changed` replaces them. Each: a whole number, 0 or more.
   *
   * @defaultValue `{}`
   */
  slots?: Record<string, number> | undefined;
  /**
   * λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. A
   * number, 1 to 1,000.
   *
   * @defaultValue `4`
   */
  toolTimeoutFactor?: number | undefined;
  /**
   * Tmin: no tool, and no start, is given less, in seconds. A number, 0 or more.
   *
   * @defaultValue `60`
   */
  minToolTimeoutSeconds?: number | undefined;
  /**
   * Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a day.
   * A number above 0 and at most 86,400.
   *
   * @defaultValue `1800`
   */
  maxToolTimeoutSeconds?: number | undefined;
  /**
   * Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. A whole number.
   *
   * @defaultValue `16`
   */
  toolExploreEvery?: number | undefined;
  /**
   * The most that the start of an environment may take, in seconds, > 0 and at most a day. A number above 0 and at most
   * 86,400.
   *
   * @defaultValue `600`
   */
  maxStartSeconds?: number | undefined;
  /**
   * Seconds until an environment whose end is not confirmed counts as gone. A number above 0.
   *
   * @defaultValue `60`
   */
  endGraceSeconds?: number | undefined;
  /**
   * The most that an environment without a program is kept for the next, in seconds; less where that did not pay. A
   * number above 0.
   *
   * @defaultValue `600`
   */
  maxIdleSeconds?: number | undefined;
  /**
   * Environments of a kind that fail one after the other until no more are started. A whole number, 1 or more.
   *
   * @defaultValue `5`
   */
  suspendAfter?: number | undefined;
  /**
   * Seconds until an environment of a suspended kind is tried; twice as long after each failure. A number above 0.
   *
   * @defaultValue `10`
   */
  retrySeconds?: number | undefined;
  /**
   * The longest time between two such tries, in seconds. A number above 0.
   *
   * @defaultValue `600`
   */
  maxRetrySeconds?: number | undefined;
}

/** Configuration of `agentic-rollout`, its defaults filled in. */
export interface AgenticRolloutConfig {
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
  /** Most requests in flight at once; unlimited if absent. A whole number, 1 or more. */
  maxInFlight?: number | undefined;
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
  /** Prefix of every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /**
   * Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in
   * `tail-batching`.
   */
  composition: boolean;
  /**
   * Kind of the environment that every trajectory needs; it is asked for when the trajectory is launched. Absent: none,
   * or the host asks itself, by `slot.requested`. At most 512 characters.
   */
  environment?: string | undefined;
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
  /** Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more. */
  kvCapacityTokens: number;
  /** Part of its KV cache that the programs of an engine may fill. A number, 0.05 to 1. */
  budgetShare: number;
  /**
   * No program is held back or paused for longer, in seconds, while there is an engine. A number above 0 and at most
   * 1,000,000.
   */
  maxPauseSeconds: number;
  /** Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more. */
  prefillTokensPerSecond: number;
  /**
   * How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines,
   * so that others become free; absent: none is freed. A number, 1 to 100.
   */
  tailSlowdown?: number | undefined;
  /** How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. */
  decode: {
    /** Seconds of a step, whatever runs. A number, 0 or more. */
    stepSeconds: number;
    /** Seconds that each running turn adds to a step. A number, 0 or more. */
    sequenceSeconds: number;
    /** Seconds that each token in the contexts of running turns adds to a step. A number, 0 or more. */
    contextTokenSeconds: number;
  };
  /** Most environments of each kind at the start; `slots.changed` replaces them. Each: a whole number, 0 or more. */
  slots: Record<string, number>;
  /**
   * λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. A
   * number, 1 to 1,000.
   */
  toolTimeoutFactor: number;
  /** Tmin: no tool, and no start, is given less, in seconds. A number, 0 or more. */
  minToolTimeoutSeconds: number;
  /**
   * Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a day.
   * A number above 0 and at most 86,400.
   */
  maxToolTimeoutSeconds: number;
  /** Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. A whole number. */
  toolExploreEvery: number;
  /**
   * The most that the start of an environment may take, in seconds, > 0 and at most a day. A number above 0 and at most
   * 86,400.
   */
  maxStartSeconds: number;
  /** Seconds until an environment whose end is not confirmed counts as gone. A number above 0. */
  endGraceSeconds: number;
  /**
   * The most that an environment without a program is kept for the next, in seconds; less where that did not pay. A
   * number above 0.
   */
  maxIdleSeconds: number;
  /** Environments of a kind that fail one after the other until no more are started. A whole number, 1 or more. */
  suspendAfter: number;
  /** Seconds until an environment of a suspended kind is tried; twice as long after each failure. A number above 0. */
  retrySeconds: number;
  /** The longest time between two such tries, in seconds. A number above 0. */
  maxRetrySeconds: number;
}

/** What `agentic-rollout` is told. */
export type AgenticRolloutEvent =
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
  | ResponseCompleted
  | ResponseFailed
  | RewardReady
  | RoundFailed
  | RoundRequested
  | SlotFailed
  | SlotReady
  | SlotReleased
  | SlotRequested
  | SlotsChanged
  | SourceExhausted
  | SourceReopened
  | TimerFired
  | ToolFinished
  | ToolStarted
  | TurnFinished
  | TurnRequested;

/** What `agentic-rollout` asks of the host. */
export type AgenticRolloutCommand =
  | JudgementRequest
  | KvRetain
  | ProgramPause
  | ProgramResume
  | PromptsRequest
  | RequestAbort
  | RequestLaunch
  | RequestResume
  | RewardRequest
  | SlotAssign
  | SlotPrewarm
  | SlotReclaim
  | TimerSet
  | TurnRoute;

/** What `agentic-rollout` lets others know. */
export type AgenticRolloutNotice =
  | EngineFreed
  | JudgementLate
  | ProgramAwaited
  | ProgramEnded
  | ProgramLate
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
  | RoundCompleted
  | RoundDrained
  | RoundPlanned
  | SlotDenied
  | SlotExpired
  | SlotLate
  | SlotsRecovered
  | SlotsSuspended
  | SourceDrained
  | SpeculationChosen
  | TriesRecovered
  | TriesSuspended;

/** What `agentic-rollout` answers. */
export type AgenticRolloutDecision = AgenticRolloutCommand | AgenticRolloutNotice;
