// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: reward workers. */
import type { Because, Stamped } from './objects.ts';

/**
 * A reward worker takes dispatches. May be repeated, to change its slots or after a drain.
 *
 * Event `reward-worker.added`.
 */
export interface RewardWorkerAdded extends Stamped<'reward-worker.added'> {
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Dispatches that it runs at once, 1 to 1,000,000. A whole number. */
  slots: number;
}

/**
 * A reward worker finishes what it has and takes nothing new.
 *
 * Event `reward-worker.drained`.
 */
export interface RewardWorkerDrained extends Stamped<'reward-worker.drained'> {
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
}

/**
 * A reward worker is gone, with all that ran on it.
 *
 * Event `reward-worker.lost`.
 */
export interface RewardWorkerLost extends Stamped<'reward-worker.lost'> {
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
}

/**
 * A worker has ended a dispatch.
 *
 * Event `reward.finished`.
 */
export interface RewardFinished extends Stamped<'reward.finished'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
  /**
   * `timeout`: stopped at its budget. `infrastructure`: the worker failed, not the response. `cancelled`: stopped on
   * `reward.cancel`.
   */
  outcome: 'scored' | 'timeout' | 'infrastructure' | 'cancelled';
  /** The raw reward, not a shaped one; with `scored`, and only then. */
  reward?: number | undefined;
  /** How long it ran, in seconds. A number, 0 or more. */
  seconds: number;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * The reward of a completed response is wanted.
 *
 * Event `reward.requested`.
 */
export interface RewardRequested extends Stamped<'reward.requested'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Prompt of the response; when the prompt leaves its round, the reward is not needed. At most 512 characters. */
  promptId?: string | undefined;
  /**
   * Round of the response; when it completes without the response, the reward is not needed. At most 512 characters.
   */
  roundId?: string | undefined;
  /** How it is computed; by the domain, or the default kind, if absent. */
  kind?: 'rule' | 'sandbox' | 'judge' | undefined;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Seconds that the worker may take; by the kind if absent. A number above 0 and at most 1,000,000. */
  budgetSeconds?: number | undefined;
}

/**
 * A worker has begun to compute: its budget runs from now, not from the dispatch.
 *
 * Event `reward.started`.
 */
export interface RewardStarted extends Stamped<'reward.started'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
}

/**
 * The reward of a response is not needed any more. Of one that is over, or was never wanted, nothing changes.
 *
 * Event `reward.withdrawn`.
 */
export interface RewardWithdrawn extends Stamped<'reward.withdrawn'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
}

/**
 * Stop this dispatch and confirm with `reward.finished`; nothing waits for it but its slot.
 *
 * Command `reward.cancel`; answered by `reward.finished`.
 */
export interface RewardCancel extends Stamped<'reward.cancel'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'round_completed' | 'round_failed' | 'prompt_deferred' | 'prompt_filtered' | 'prompt_failed' |
          'prompt_returned' | 'prompt_merged' | 'response_dropped' | 'withdrawn', {
        /** Since the reward was asked for, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'no_answer', {
        /** Since the dispatch, in seconds. A number, 0 or more. */
        ranSeconds: number;
        /** Seconds that the worker may take, > 0, at most 1,000,000. */
        budgetSeconds: number;
        /** How long the confirmation of a cancellation is waited for, in seconds. A number, 0 or more. */
        graceSeconds: number;
      }>['reason'];
}

/**
 * The reward of a response is not needed any more, and is not computed.
 *
 * Notice `reward.cancelled`.
 */
export interface RewardCancelled extends Stamped<'reward.cancelled'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Why, with the numbers. */
  reason: Because<'round_completed' | 'round_failed' | 'prompt_deferred' | 'prompt_filtered' | 'prompt_failed' |
      'prompt_returned' | 'prompt_merged' | 'response_dropped' | 'withdrawn', {
    /** Since the reward was asked for, in seconds. A number, 0 or more. */
    afterSeconds: number;
  }>['reason'];
}

/**
 * Compute the reward of this response on this worker, and stop it after this time.
 *
 * Command `reward.dispatch`; answered by `reward.finished`.
 */
export interface RewardDispatch extends Stamped<'reward.dispatch'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Seconds that the worker may take, > 0, at most 1,000,000. */
  budgetSeconds: number;
  /** Why, with the numbers. */
  reason:
    | Because<'requested' | 'host_restarted', {
        /** Since it was asked for, or queued again, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Dispatches on the worker, without this one. A whole number, 0 or more. */
        running: number;
      }>['reason']
    | Because<'retry_infrastructure', {
        /** Since it was asked for, or queued again, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Dispatches on the worker, without this one. A whole number, 0 or more. */
        running: number;
        /** How many further tries there were, this one included, within the budget. A whole number, 0 or more. */
        attempt: number;
        /** Most further tries after failures of this kind. A whole number, 0 or more. */
        budget: number;
        /** Since the try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
      }>['reason']
    | Because<'retry_timeout', {
        /** Since it was asked for, or queued again, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Dispatches on the worker, without this one. A whole number, 0 or more. */
        running: number;
        /** How many further tries there were, this one included, within the budget. A whole number, 0 or more. */
        attempt: number;
        /** Most further tries after failures of this kind. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'probe', {
        /** Since it was asked for, or queued again, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Dispatches on the worker, without this one. A whole number, 0 or more. */
        running: number;
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Since the single try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason'];
}

/**
 * A cancellation was never confirmed; its slot counts as free.
 *
 * Notice `reward.expired`.
 */
export interface RewardExpired extends Stamped<'reward.expired'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'cancel_unconfirmed', {
    /** How long the confirmation of a cancellation is waited for, in seconds. A number, 0 or more. */
    graceSeconds: number;
  }>['reason'];
}

/**
 * A response gets no reward: its tries are used up, or the host cannot compute it, and sends this as an event, without
 * a reason. Where a round waits for the reward, the response is given up, and another takes its place.
 *
 * Notice `reward.failed`; an event of `speculative-admission`, `group-assembly`, `watchdog`.
 */
export interface RewardFailed extends Stamped<'reward.failed'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Why, with the numbers. */
  reason:
    | Because<'infrastructure', {
        /** Dispatches that failed. A whole number, 0 or more. */
        failures: number;
        /** Most failures of this kind that lead to another try. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'timeout', {
        /** Dispatches that ran out of time. A whole number, 0 or more. */
        timeouts: number;
        /** Most failures of this kind that lead to another try. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'not_compared', {
        /** Failures that no success of another has followed. A whole number, 0 or more. */
        failures: number;
        /** How long it has waited for one, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long it waits (`giveUpSeconds`), in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason'];
}

/**
 * A report about a dispatch that is over or was cancelled: it changes nothing for the response.
 *
 * Notice `reward.late`.
 */
export interface RewardLate extends Stamped<'reward.late'> {
  /** Id of the dispatch, minted by the policy. At most 256 characters. */
  dispatchId: string;
  /** The raw reward that nobody waits for. */
  reward?: number | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'result' | 'after_cancel', {
        /** How long the worker took, in seconds. A number, 0 or more. */
        seconds: number;
      }>['reason']
    | Because<'report'>['reason'];
}

/**
 * A reward that is being computed was asked for again: one is computed for both.
 *
 * Notice `reward.merged`.
 */
export interface RewardMerged extends Stamped<'reward.merged'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'already_requested', {
    /** Since the reward was asked for, in seconds. A number, 0 or more. */
    afterSeconds: number;
  }>['reason'];
}

/**
 * The reward of a response is known: its number is what `reward.ready` takes.
 *
 * Notice `reward.scored`.
 */
export interface RewardScored extends Stamped<'reward.scored'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Id of the reward worker, given by the host. At most 512 characters. */
  workerId: string;
  /** Raw reward. */
  reward: number;
  /** Why, with the numbers. */
  reason:
    | Because<'scored', {
        /** How long the worker took, in seconds. A number, 0 or more. */
        seconds: number;
        /** Dispatches that it took. A whole number, 0 or more. */
        attempts: number;
      }>['reason']
    | Because<'timeout', {
        /** How long the worker took, in seconds. A number, 0 or more. */
        seconds: number;
        /** Seconds that the worker may take, > 0, at most 1,000,000. */
        budgetSeconds: number;
        /** Dispatches that ran out of time. A whole number, 0 or more. */
        timeouts: number;
      }>['reason'];
}

/**
 * The queue of this kind is short again.
 *
 * Notice `rewards.resumed`.
 */
export interface RewardsResumed extends Stamped<'rewards.resumed'> {
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Why, with the numbers. */
  reason: Because<'queue_short', {
    /** Rewards of this kind that wait for a worker. A whole number, 0 or more. */
    queued: number;
    /** With this many or fewer waiting it goes on. A whole number, 0 or more. */
    resumedQueued: number;
  }>['reason'];
}

/**
 * Rewards of this kind are asked for faster than they are computed: hold back what leads to more of them.
 *
 * Notice `rewards.saturated`.
 */
export interface RewardsSaturated extends Stamped<'rewards.saturated'> {
  /** `rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges. */
  kind: 'rule' | 'sandbox' | 'judge';
  /** Why, with the numbers. */
  reason:
    | Because<'queue_long', {
        /** Rewards of this kind that wait for a worker. A whole number, 0 or more. */
        queued: number;
        /** With this many or more waiting it is saturated. A whole number, 0 or more. */
        saturatedQueued: number;
      }>['reason']
    | Because<'no_worker', {
        /** Rewards of this kind that wait for a worker. A whole number, 0 or more. */
        queued: number;
      }>['reason']
    | Because<'host_restarted', {
        /** Rewards of this kind that wait for a worker. A whole number, 0 or more. */
        queued: number;
        /** With this many or fewer waiting it goes on. A whole number, 0 or more. */
        resumedQueued: number;
      }>['reason'];
}
