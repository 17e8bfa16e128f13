// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `speculative-admission`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineAdded, EngineDrained, EngineLost, EnginesChanged, HostRestarted, JudgementLate, JudgementRequest, PromptCarried,
  PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptJudged, PromptMerged,
  PromptReturned, PromptsRequest, PromptsSupplied, RequestAbort, RequestAborted, RequestExpired, RequestLaunch,
  RequestProgressed, RequestResume, RequestStarted, ResponseAbandoned, ResponseAccepted, ResponseCompleted,
  ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus, RewardFailed, RewardReady, RewardRequest,
  RoundCompleted, RoundDrained, RoundFailed, RoundOpened, SourceExhausted, SourceReopened, SpeculationChosen,
  TimerFired, TimerSet, ToolFinished, ToolStarted, TriesRecovered, TriesSuspended, TurnFinished,
} from '../messages/index.ts';

/** Configuration of `speculative-admission`, as a caller writes it. */
export interface SpeculativeAdmissionInput {
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
}

/** Configuration of `speculative-admission`, its defaults filled in. */
export interface SpeculativeAdmissionConfig
  extends Pick<SpeculativeAdmissionInput, 'promptsPerRound' | 'responsesPerPrompt' | 'promptSpeculation' |
      'responseSpeculation' | 'maxInFlight' | 'maxInFlightPerEngine' | 'maxFiltered' | 'quotas' |
      'responseTimeoutSeconds' | 'onRestart'> {
  /** `auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest. */
  speculation: 'fixed' | 'auto';
  /** Who chooses the engine of a request. */
  placement: 'policy' | 'host';
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
  /** Prefix of every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `speculative-admission` is told. */
export type SpeculativeAdmissionEvent =
  | EngineAdded | EngineDrained | EngineLost | EnginesChanged | HostRestarted | PromptJudged | PromptsSupplied
  | Reported<RewardFailed> | RequestAborted | RequestProgressed | RequestStarted | ResponseCompleted | ResponseFailed
  | RewardReady | RoundFailed | RoundOpened | SourceExhausted | SourceReopened | TimerFired | ToolFinished | ToolStarted
  | TurnFinished;

/** What `speculative-admission` asks of the host. */
export type SpeculativeAdmissionCommand =
  | JudgementRequest | PromptsRequest | RequestAbort | RequestLaunch | RequestResume | RewardRequest | TimerSet;

/** What `speculative-admission` lets others know. */
export type SpeculativeAdmissionNotice =
  | JudgementLate | PromptCarried | PromptCollected | PromptCounted | PromptDeferred | PromptFailed | PromptFiltered
  | PromptMerged | PromptReturned | RequestExpired | ResponseAbandoned | ResponseAccepted | ResponseDropped
  | ResponseLate | ResponseSurplus | RoundCompleted | RoundDrained | SpeculationChosen | TriesRecovered
  | TriesSuspended;

/** What `speculative-admission` answers. */
export type SpeculativeAdmissionDecision = SpeculativeAdmissionCommand | SpeculativeAdmissionNotice;

/** All types of `speculative-admission`, for its definition. */
export interface SpeculativeAdmissionTypes {
  /** Id of the definition. */
  readonly id: 'speculative-admission';
  /** Configuration, as a caller writes it. */
  readonly input: SpeculativeAdmissionInput;
  /** Configuration, its defaults filled in. */
  readonly config: SpeculativeAdmissionConfig;
  /** What it is told. */
  readonly event: SpeculativeAdmissionEvent;
  /** What it answers. */
  readonly decision: SpeculativeAdmissionDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: SpeculativeAdmissionCommand['type'];
}
