// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: prompts. */
import type { Because, CountedResponse, DroppedResponse, Prompt, Stamped } from './objects.ts';

/**
 * An unfinished prompt goes on running into the next round (`maxStaleness` above 0).
 *
 * Notice `prompt.carried`; an event of `long-prompt-queue`.
 */
export interface PromptCarried extends Stamped<'prompt.carried'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'within_staleness', {
    /** Version of the weights that its first tokens are of. A whole number, 0 to 4,000,000,000,000,000. */
    startVersion: number;
    /** Most versions that its tokens may be behind. A whole number, 0 or more. */
    maxStaleness: number;
  }>['reason'];
}

/**
 * A prompt has its R0 responses.
 *
 * Notice `prompt.collected`; an event of `frontier-group-dispatch`, `watchdog`.
 */
export interface PromptCollected extends Stamped<'prompt.collected'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Requests of its held responses, by index. Each: at most 1,200 characters. */
  requestIds: string[];
  /** Why, with the numbers. */
  reason: Because<'responses_held', {
    /** Responses of the prompt that are held. A whole number, 0 or more. */
    held: number;
    /** Responses of the prompt that were begun, those kept from earlier rounds included. A whole number, 0 or more. */
    launched: number;
  }>['reason'];
}

/**
 * A prompt counts for the round.
 *
 * Notice `prompt.counted`; an event of `round-composition`, `prompt-selection`, `group-assembly`, `gpu-scale-down`,
 * `watchdog`.
 */
export interface PromptCounted extends Stamped<'prompt.counted'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Tokens of the prompt itself, where they are known. A whole number, 0 to 1,000,000,000. */
  promptTokens?: number | undefined;
  /** Its responses, by index. */
  responses: CountedResponse[];
  /**
   * Responses of the prompt that were begun, where more were than its group has: only the first to end are named. A
   * whole number, 1 or more.
   */
  launched?: number | undefined;
  /** Why, with the numbers. */
  reason: Because<'no_filter' | 'passed', {
    /** Prompts of the round that count, this one included. A whole number, 0 or more. */
    counted: number;
    /** Prompts that the round needs. A whole number, 0 or more. */
    needed: number;
  }>['reason'];
}

/**
 * An unfinished prompt leaves the round. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for
 * a later round.
 *
 * Notice `prompt.deferred`; an event of `long-prompt-queue`, `round-composition`, `prompt-selection`,
 * `reward-dispatch`, `group-assembly`, `frontier-group-dispatch`, `watchdog`.
 */
export interface PromptDeferred extends Stamped<'prompt.deferred'> {
  /** The prompt, with what it carries. */
  prompt: Prompt;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Responses that are given up, each with its cause. */
  dropped: DroppedResponse[];
  /** Why, with the numbers. */
  reason:
    | Because<'round_completed' | 'quota_filled' | 'round_failed', {
        /** Responses of the prompt that are held. A whole number, 0 or more. */
        held: number;
        /** Responses that it needs. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'stale_weights', {
        /** Version of the weights that its first tokens are of. A whole number, 0 to 4,000,000,000,000,000. */
        startVersion: number;
        /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
        weightVersion: number;
        /** Most versions that its tokens may be behind. A whole number, 0 or more. */
        maxStaleness: number;
      }>['reason'];
}

/**
 * A prompt has used up its retries: it leaves the round for good, and another prompt takes its place.
 *
 * Notice `prompt.failed`; an event of `long-prompt-queue`, `reward-dispatch`, `group-assembly`,
 * `frontier-group-dispatch`, `watchdog`.
 */
export interface PromptFailed extends Stamped<'prompt.failed'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Responses that are given up. */
  dropped: DroppedResponse[];
  /** Why, with the numbers. */
  reason:
    | Because<'infrastructure' | 'data' | 'environment' | 'timeout' | 'reward', {
        /** Failures of this kind. A whole number, 0 or more. */
        failures: number;
        /** Most failures that lead to another try. A whole number, 0 or more. */
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
 * A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced.
 *
 * Notice `prompt.filtered`; an event of `long-prompt-queue`, `round-composition`, `prompt-selection`,
 * `reward-dispatch`, `group-assembly`, `watchdog`.
 */
export interface PromptFiltered extends Stamped<'prompt.filtered'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Responses that are given up. */
  dropped: DroppedResponse[];
  /**
   * Responses of the prompt that were begun, where more were than its group has: only the first to end are named. A
   * whole number, 1 or more.
   */
  launched?: number | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'zero_variance', {
        /** Population standard deviation of the raw rewards. */
        standardDeviation: number;
        /** Up to which it counts as none. */
        tolerance: number;
      }>['reason']
    | Because<'host'>['reason'];
}

/**
 * A prompt that is here already was supplied again: one of the two is dropped.
 *
 * Notice `prompt.merged`; an event of `reward-dispatch`, `group-assembly`, `watchdog`.
 */
export interface PromptMerged extends Stamped<'prompt.merged'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId?: string | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Responses that are given up. */
  dropped: DroppedResponse[];
  /** Why, with the numbers. */
  reason:
    | Because<'already_in_round'>['reason']
    | Because<'already_queued', {
        /** How often the one that is kept has been deferred. A whole number, 0 or more. */
        deferrals: number;
      }>['reason'];
}

/**
 * A prompt that was not started, or whose round has failed or is over, leaves the round as it came.
 * `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round: do not supply it again.
 *
 * Notice `prompt.returned`; an event of `long-prompt-queue`, `round-composition`, `prompt-selection`,
 * `reward-dispatch`, `group-assembly`, `watchdog`.
 */
export interface PromptReturned extends Stamped<'prompt.returned'> {
  /** The prompt, with what it carries. */
  prompt: Prompt;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Responses that are given up. */
  dropped: DroppedResponse[];
  /** Why, with the numbers. */
  reason: Because<'not_started' | 'round_closed' | 'round_failed'>['reason'];
}
