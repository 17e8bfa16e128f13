// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `reward-dispatch`: its settings, what it is told, and what it answers. */
import type {
  HostRestarted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned, ResponseAccepted,
  ResponseDropped, RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardFinished,
  RewardLate, RewardMerged, RewardRequest, RewardRequested, RewardScored, RewardStarted, RewardsResumed,
  RewardsSaturated, RewardWithdrawn, RewardWorkerAdded, RewardWorkerDrained, RewardWorkerLost, RoundCompleted,
  RoundFailed, TimerFired, TimerSet, TriesRecovered, TriesSuspended,
} from '../messages/index.ts';

/** Configuration of `reward-dispatch`, as a caller writes it. */
export interface RewardDispatchInput {
  /**
   * How rewards are computed where nothing else says so.
   *
   * @defaultValue `'rule'`
   */
  defaultKind?: 'rule' | 'sandbox' | 'judge' | undefined;
  /** How rewards are computed, by the domain. */
  kindByDomain?: Record<string, 'rule' | 'sandbox' | 'judge'> | undefined;
  /** Budgets of the kinds, for requests that bring none of their own. */
  budgetSeconds?:
    | {
        /**
         * Seconds that a rule may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `2`
         */
        rule?: number | undefined;
        /**
         * Seconds that a sandbox may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `30`
         */
        sandbox?: number | undefined;
        /**
         * Seconds that a judge may take. A number above 0 and at most 1,000,000.
         *
         * @defaultValue `120`
         */
        judge?: number | undefined;
      }
    | undefined;
  /** Retry budgets of each response. */
  retry?:
    | {
        /**
         * Further tries after failures that are proven to be its own: others have succeeded since where it failed.
         * Silence of a worker is such a failure, the loss of one is none. A whole number, 0 or more.
         *
         * @defaultValue `3`
         */
        infrastructure?: number | undefined;
        /**
         * Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with
         * others; absent: never. A number above 0.
         */
        giveUpSeconds?: number | undefined;
        /**
         * Further tries of a response that ran out of its budget. A whole number, 0 or more.
         *
         * @defaultValue `0`
         */
        timeout?: number | undefined;
      }
    | undefined;
  /**
   * What a response is given that ran out of time for good: `timeoutReward`, or no reward at all.
   *
   * @defaultValue `'reward'`
   */
  onTimeout?: 'reward' | 'fail' | undefined;
  /**
   * The reward of a response that ran out of time.
   *
   * @defaultValue `0`
   */
  timeoutReward?: number | undefined;
  /**
   * Seconds past its budget until a dispatch without an answer counts as a fault of its worker. A number above 0.
   *
   * @defaultValue `10`
   */
  answerGraceSeconds?: number | undefined;
  /**
   * Seconds until an unconfirmed cancellation frees its slot. A number above 0.
   *
   * @defaultValue `30`
   */
  cancelGraceSeconds?: number | undefined;
  /**
   * Rewards of one kind that may wait; `reward.requested` is refused beyond. A whole number, 1 or more.
   *
   * @defaultValue `65536`
   */
  maxQueued?: number | undefined;
  /**
   * With this many of one kind waiting the host is told to hold back; `maxQueued` if absent. A whole number, 1 or more.
   */
  saturatedQueued?: number | undefined;
  /**
   * With this many or fewer waiting it is told to go on; half of `saturatedQueued` if absent. A whole number, 0 or
   * more.
   */
  resumedQueued?: number | undefined;
  /**
   * Prefix of every dispatch id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `reward-dispatch`, its defaults filled in. */
export interface RewardDispatchConfig
  extends Pick<RewardDispatchInput, 'kindByDomain' | 'saturatedQueued' | 'resumedQueued'> {
  /** How rewards are computed where nothing else says so. */
  defaultKind: 'rule' | 'sandbox' | 'judge';
  /** Budgets of the kinds, for requests that bring none of their own. */
  budgetSeconds: {
    /** Seconds that a rule may take. A number above 0 and at most 1,000,000. */
    rule: number;
    /** Seconds that a sandbox may take. A number above 0 and at most 1,000,000. */
    sandbox: number;
    /** Seconds that a judge may take. A number above 0 and at most 1,000,000. */
    judge: number;
  };
  /** Retry budgets of each response. */
  retry: {
    /**
     * Further tries after failures that are proven to be its own: others have succeeded since where it failed. Silence
     * of a worker is such a failure, the loss of one is none. A whole number, 0 or more.
     */
    infrastructure: number;
    /**
     * Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with
     * others; absent: never. A number above 0.
     */
    giveUpSeconds?: number | undefined;
    /** Further tries of a response that ran out of its budget. A whole number, 0 or more. */
    timeout: number;
  };
  /** What a response is given that ran out of time for good: `timeoutReward`, or no reward at all. */
  onTimeout: 'reward' | 'fail';
  /** The reward of a response that ran out of time. */
  timeoutReward: number;
  /** Seconds past its budget until a dispatch without an answer counts as a fault of its worker. A number above 0. */
  answerGraceSeconds: number;
  /** Seconds until an unconfirmed cancellation frees its slot. A number above 0. */
  cancelGraceSeconds: number;
  /** Rewards of one kind that may wait; `reward.requested` is refused beyond. A whole number, 1 or more. */
  maxQueued: number;
  /** Prefix of every dispatch id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `reward-dispatch` is told. */
export type RewardDispatchEvent =
  | HostRestarted | PromptDeferred | PromptFailed | PromptFiltered | PromptMerged | PromptReturned | ResponseAccepted
  | ResponseDropped | RewardFinished | RewardRequest | RewardRequested | RewardStarted | RewardWithdrawn
  | RewardWorkerAdded | RewardWorkerDrained | RewardWorkerLost | RoundCompleted | RoundFailed | TimerFired;

/** What `reward-dispatch` asks of the host. */
export type RewardDispatchCommand = RewardCancel | RewardDispatch | TimerSet;

/** What `reward-dispatch` lets others know. */
export type RewardDispatchNotice =
  | RewardCancelled | RewardExpired | RewardFailed | RewardLate | RewardMerged | RewardScored | RewardsResumed
  | RewardsSaturated | TriesRecovered | TriesSuspended;

/** What `reward-dispatch` answers. */
export type RewardDispatchDecision = RewardDispatchCommand | RewardDispatchNotice;

/** All types of `reward-dispatch`, for its definition. */
export interface RewardDispatchTypes {
  /** Id of the definition. */
  readonly id: 'reward-dispatch';
  /** Configuration, as a caller writes it. */
  readonly input: RewardDispatchInput;
  /** Configuration, its defaults filled in. */
  readonly config: RewardDispatchConfig;
  /** What it is told. */
  readonly event: RewardDispatchEvent;
  /** What it answers. */
  readonly decision: RewardDispatchDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: RewardDispatchCommand['type'];
}
