// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: groups. */
import type { Because, FinalPrompt, RewardedResponse, Stamped } from './objects.ts';

/**
 * Every response of a prompt that counts has its reward, or will never have one: the group can train.
 *
 * Notice `group.rewarded`; an event of `prompt-selection`, `complete-group-pipelining`.
 */
export interface GroupRewarded extends Stamped<'group.rewarded'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Tokens of the prompt itself, where they are known. A whole number, 0 to 1,000,000,000. */
  promptTokens?: number | undefined;
  /** Responses with a reward. A whole number, 1 or more. */
  samples: number;
  /** Tokens of those responses, all together, without their prompts. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Those responses, by index, each with its raw reward. */
  responses: RewardedResponse[];
  /**
   * Responses of the prompt that were begun, where more were than its group has: only the first to end are named. A
   * whole number, 1 or more.
   */
  launched?: number | undefined;
  /** Why, with the numbers. */
  reason: Because<'all_rewarded', {
    /** Responses of the prompt that count, those without a reward included. A whole number, 0 or more. */
    responses: number;
    /** Those that will never have a reward. A whole number, 0 or more. */
    missing: number;
    /** How long the group waited for its last reward, in seconds. A number, 0 or more. */
    waitedSeconds: number;
  }>['reason'];
}

/**
 * No response of a prompt was completed, or gets a reward: the round trains without it.
 *
 * Notice `group.unrewarded`.
 */
export interface GroupUnrewarded extends Stamped<'group.unrewarded'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'no_reward', {
        /** Responses of the prompt, none of which gets a reward. A whole number, 0 or more. */
        responses: number;
      }>['reason']
    | Because<'no_response', {
        /** Responses that failed for good or were aborted. A whole number, 0 or more. */
        givenUp: number;
      }>['reason'];
}

/**
 * A prompt that counted, or was launched, does not train after all.
 *
 * Notice `group.withdrawn`.
 */
export interface GroupWithdrawn extends Stamped<'group.withdrawn'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason: Because<'round_failed' | 'filtered' | 'failed'>['reason'];
}

/**
 * A reward of a response that nobody waits for: it has one, it has left, or it is not known.
 *
 * Notice `reward.unused`.
 */
export interface RewardUnused extends Stamped<'reward.unused'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'not_awaited'>['reason'];
}

/**
 * The round is complete and every response of it has its reward, or will never have one.
 *
 * Notice `round.rewarded`; an event of `complete-group-pipelining`.
 */
export interface RoundRewarded extends Stamped<'round.rewarded'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Prompts that train, in the order of the round; responses with rewards only. */
  prompts: FinalPrompt[];
  /** Why, with the numbers. */
  reason:
    | Because<'all_groups', {
        /** Groups that train. A whole number, 0 or more. */
        groups: number;
        /** Since the round was complete, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'round_failed'>['reason'];
}
