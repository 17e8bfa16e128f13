// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: frontier. */
import type { Because, Stamped } from './objects.ts';

/**
 * A request is ready for an engine and waits until it is admitted.
 *
 * Event `request.arrived`.
 */
export interface RequestArrived extends Stamped<'request.arrived'> {
  /** Id of the request, given by the host; new for each try. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt; its responses are one group. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the group, from 0; a later request for it takes its place. A whole number. */
  index: number;
  /**
   * Place of the group in its round, lowest first; absent: after all groups that came before. A whole number, 0 or
   * more.
   */
  order?: number | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
}

/**
 * From now on at most this many groups are in service; those that are stay.
 *
 * Notice `frontier.resized`.
 */
export interface FrontierResized extends Stamped<'frontier.resized'> {
  /** F_w: most groups in service at once. A whole number, 1 or more. */
  width: number;
  /** Why, with the numbers. */
  reason:
    | Because<'learning', {
        /** Requests of the groups in service that have not ended. A whole number, 0 or more. */
        unfinished: number;
        /** How many may be in service until a width can be planned. A whole number, 1 or more. */
        startRequests: number;
      }>['reason']
    | Because<'planned', {
        /** Groups of the round that was planned for. A whole number, 1 or more. */
        groups: number;
        /** When the trainer is expected to be done, seconds from the first admission. A number, 0 or more. */
        expectedSeconds: number;
        /** Seconds a token of a response, with nothing else in service. A number, 0 or more. */
        stepSeconds: number;
        /** Further seconds per token for each request in service. A number, 0 or more. */
        stepSecondsPerRequest: number;
        /** Further seconds per token for each token that those have. A number, 0 or more. */
        stepSecondsPerContextToken: number;
        /** What the trainer takes for a group; 0 while unknown. */
        trainSecondsPerGroup: number;
      }>['reason'];
}

/**
 * The trainer waits while groups are deferred: the frontier is too narrow for it.
 *
 * Notice `frontier.starved`.
 */
export interface FrontierStarved extends Stamped<'frontier.starved'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** F_w: most groups in service at once. A whole number, 1 or more. */
  width: number;
  /** A width that would have been better for this round. A whole number, 1 or more. */
  suggestedWidth: number;
  /** Why, with the numbers. */
  reason: Because<'trainer_waits', {
    /** What the trainer has waited since its first groups of the round. A number, 0 or more. In seconds. */
    waitedSeconds: number;
    /** What it has worked meanwhile. A number, 0 or more. In seconds. */
    busySeconds: number;
    /** Groups that have left the frontier, a second. A number, 0 or more. */
    servedGroupsPerSecond: number;
    /** Groups that the trainer takes, a second of its work. A number, 0 or more. */
    trainedGroupsPerSecond: number;
  }>['reason'];
}

/**
 * Nothing of a group runs or waits any more: its slot is free.
 *
 * Notice `group.left`.
 */
export interface GroupLeft extends Stamped<'group.left'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Its requests that have ended, by index. Each: at most 1,200 characters. */
  requestIds: string[];
  /** Why, with the numbers. */
  reason: Because<'all_ended' | 'closed', {
    /** Responses that were completed. A whole number, 0 or more. */
    completed: number;
    /** Responses that failed for good or were aborted. A whole number, 0 or more. */
    givenUp: number;
    /** How long it was in service; 0 if it never was. In seconds. */
    servedSeconds: number;
  }>['reason'];
}

/**
 * Let this request into an engine.
 *
 * Command `request.admit`; answered by `response.completed`, `response.failed`.
 */
export interface RequestAdmit extends Stamped<'request.admit'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the group, from 0. A whole number. */
  index: number;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'group_admitted' | 'in_frontier', {
    /** Place of the group in its round. A whole number, 0 or more. */
    order: number;
    /** Groups in service, this one included. A whole number, 0 or more. */
    inService: number;
    /** F_w: most groups in service at once. A whole number, 1 or more. */
    width: number;
  }>['reason'];
}

/**
 * A group waits for a request that is not here: bring it by `request.arrived`.
 *
 * Notice `request.awaited`.
 */
export interface RequestAwaited extends Stamped<'request.awaited'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the group, from 0. A whole number. */
  index: number;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'host_restarted'>['reason'];
}

/**
 * A request waits, since its group is not in the frontier.
 *
 * Notice `request.deferred`.
 */
export interface RequestDeferred extends Stamped<'request.deferred'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'frontier_full', {
    /** Place of the group in its round. A whole number, 0 or more. */
    order: number;
    /** Groups in service. A whole number, 0 or more. */
    inService: number;
    /** F_w: most groups in service at once. A whole number, 1 or more. */
    width: number;
  }>['reason'];
}

/**
 * A request is given up before it has ended; what comes of it later is late.
 *
 * Notice `request.dropped`.
 */
export interface RequestDropped extends Stamped<'request.dropped'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the group, from 0. A whole number. */
  index: number;
  /** Whether an engine has it, which is to stop it. */
  admitted: boolean;
  /** Why, with the numbers. */
  reason:
    | Because<'aborted' | 'closed' | 'host_restarted'>['reason']
    | Because<'replaced', {
        /** Whether it had ended before: it had failed, or was aborted. */
        ended: boolean;
      }>['reason'];
}
