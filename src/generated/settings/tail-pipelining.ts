// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `tail-pipelining`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded,
  EngineDrained,
  EngineLost,
  EnginesChanged,
  FrontierResized,
  FrontierStarved,
  GroupLate,
  GroupLeft,
  GroupRewarded,
  GroupsDropped,
  GroupTrainable,
  GroupUnrewarded,
  GroupWithdrawn,
  HostRestarted,
  JudgementLate,
  JudgementRequest,
  OptimizerStep,
  OptimizerStepped,
  PipelineMeasured,
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
  RequestAdmit,
  RequestDeferred,
  RequestDropped,
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
  RewardUnused,
  RoundCompleted,
  RoundDrained,
  RoundFailed,
  RoundPlanned,
  RoundRequested,
  RoundRewarded,
  RoundTrained,
  SourceDrained,
  SourceExhausted,
  SourceReopened,
  SpeculationChosen,
  TimerFired,
  TimerSet,
  ToolFinished,
  ToolStarted,
  TrainDispatch,
  TrainerRestarted,
  TrainingLate,
  TriesRecovered,
  TriesSuspended,
  TurnFinished,
  UpdateCancel,
  UpdateConsumed,
  UpdateLost,
  WeightsPublish,
  WeightsPublished,
} from '../messages/index.ts';

/** Configuration of `tail-pipelining`, as a caller writes it. */
export interface TailPipeliningInput {
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
   * Prompts of each domain in a short round; together they are P0. Long rounds take any mix. Each: a whole number, 1 or
   * more.
   */
  quotas?: Record<string, number> | undefined;
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
   * B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. A whole number, 1 or
   * more.
   */
  globalBatchSamples: number;
  /** Token budget of a micro-batch; absent: an update is one micro-batch. A whole number, 1 or more. */
  maxTokensPerGpu?: number | undefined;
  /**
   * Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does.
   *
   * @defaultValue `true`
   */
  pipelining?: boolean | undefined;
  /**
   * What becomes of a group in which a reward is missing for good.
   *
   * @defaultValue `'drop'`
   */
  incompleteGroups?: 'drop' | 'train' | undefined;
  /**
   * What is taken off a reward: the mean of its group, or of the others in it.
   *
   * @defaultValue `'group'`
   */
  baseline?: 'group' | 'leave-one-out' | undefined;
  /**
   * Whether the difference is divided by standard deviation + `epsilon`.
   *
   * @defaultValue `'std'`
   */
  normalization?: 'std' | 'none' | undefined;
  /**
   * Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`).
   *
   * @defaultValue `'sample'`
   */
  std?: 'sample' | 'population' | undefined;
  /**
   * Added to the standard deviation. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  epsilon?: number | undefined;
  /**
   * Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward.
   *
   * @defaultValue `'zero'`
   */
  singleResponse?: 'zero' | 'reward' | undefined;
  /**
   * Whether launches wait for `request.admit`, groups of at most `width` prompts at once.
   *
   * @defaultValue `false`
   */
  frontier?: boolean | undefined;
  /** F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`. */
  width?: number | 'auto' | undefined;
  /**
   * Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more.
   *
   * @defaultValue `96`
   */
  startRequests?: number | undefined;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   *
   * @defaultValue `0.2`
   */
  starvedShare?: number | undefined;
}

/** Configuration of `tail-pipelining`, its defaults filled in. */
export interface TailPipeliningConfig {
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
  /**
   * Prompts of each domain in a short round; together they are P0. Long rounds take any mix. Each: a whole number, 1 or
   * more.
   */
  quotas?: Record<string, number> | undefined;
  /** Deferred prompts begin anew: their tokens would be stale. */
  partialRollout: false;
  /** Every sample is of the weights of its round. */
  maxStaleness: 0;
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
   * B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. A whole number, 1 or
   * more.
   */
  globalBatchSamples: number;
  /** Token budget of a micro-batch; absent: an update is one micro-batch. A whole number, 1 or more. */
  maxTokensPerGpu?: number | undefined;
  /** Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does. */
  pipelining: boolean;
  /** What becomes of a group in which a reward is missing for good. */
  incompleteGroups: 'drop' | 'train';
  /** What is taken off a reward: the mean of its group, or of the others in it. */
  baseline: 'group' | 'leave-one-out';
  /** Whether the difference is divided by standard deviation + `epsilon`. */
  normalization: 'std' | 'none';
  /** Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). */
  std: 'sample' | 'population';
  /** Added to the standard deviation. A number, 0 or more. */
  epsilon: number;
  /** Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. */
  singleResponse: 'zero' | 'reward';
  /** Whether launches wait for `request.admit`, groups of at most `width` prompts at once. */
  frontier: boolean;
  /** F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`. */
  width?: number | 'auto' | undefined;
  /** Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more. */
  startRequests: number;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   */
  starvedShare: number;
}

/** What `tail-pipelining` is told. */
export type TailPipeliningEvent =
  | EngineAdded
  | EngineDrained
  | EngineLost
  | EnginesChanged
  | HostRestarted
  | OptimizerStepped
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
  | TrainerRestarted
  | TurnFinished
  | UpdateConsumed
  | UpdateLost
  | WeightsPublished;

/** What `tail-pipelining` asks of the host. */
export type TailPipeliningCommand =
  | JudgementRequest
  | OptimizerStep
  | PromptsRequest
  | RequestAbort
  | RequestAdmit
  | RequestLaunch
  | RequestResume
  | RewardRequest
  | TimerSet
  | TrainDispatch
  | UpdateCancel
  | WeightsPublish;

/** What `tail-pipelining` lets others know. */
export type TailPipeliningNotice =
  | FrontierResized
  | FrontierStarved
  | GroupLate
  | GroupLeft
  | GroupRewarded
  | GroupTrainable
  | GroupUnrewarded
  | GroupWithdrawn
  | GroupsDropped
  | JudgementLate
  | PipelineMeasured
  | PromptCarried
  | PromptCollected
  | PromptCounted
  | PromptDeferred
  | PromptFailed
  | PromptFiltered
  | PromptMerged
  | PromptReturned
  | PromptsReleased
  | RequestDeferred
  | RequestDropped
  | RequestExpired
  | ResponseAbandoned
  | ResponseAccepted
  | ResponseDropped
  | ResponseLate
  | ResponseSurplus
  | RewardUnused
  | RoundCompleted
  | RoundDrained
  | RoundPlanned
  | RoundRewarded
  | RoundTrained
  | SourceDrained
  | SpeculationChosen
  | TrainingLate
  | TriesRecovered
  | TriesSuspended;

/** What `tail-pipelining` answers. */
export type TailPipeliningDecision = TailPipeliningCommand | TailPipeliningNotice;
