// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: pacing. */
import type { Because, PacedGroup, Stamped } from './objects.ts';

/**
 * Give this group up: stop what generates it, and discard what it has. Only after the weights have advanced by more
 * than a version.
 *
 * Command `group.drop`.
 */
export interface GroupDrop extends Stamped<'group.drop'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Id of the launch of the group, minted by the policy; new for every try. At most 200 characters. */
  launchId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'version_skipped', {
    /** Version of the weights that it was launched with. A whole number, 0 to 4,000,000,000,000,000. */
    startVersion: number;
    /** Version of the weights that are trained next. A whole number, 0 to 4,000,000,000,000,000. */
    weightVersion: number;
    /** Most versions that its first tokens may be behind. A whole number, 0 or more. */
    maxStaleness: number;
    /** Tokens that it has, where it is complete; otherwise 0. A whole number, 0 to 1,000,000,000,000. */
    tokens: number;
  }>['reason'];
}

/**
 * Generate all responses of a group, and answer `group.completed`, or `group.rejected`.
 *
 * Command `group.launch`; answered by `group.completed`, `group.rejected`.
 */
export interface GroupLaunch extends Stamped<'group.launch'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Id of the launch of the group, minted by the policy; new for every try. At most 200 characters. */
  launchId: string;
  /** Version of the weights that the engines have now, at least. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'within_staleness' | 'host_restarted', {
    /** Groups that are launched and in no batch yet, this one included. A whole number, 0 or more. */
    groups: number;
    /** How many these may be, so that none gets too old. A whole number, 0 or more. */
    allowed: number;
  }>['reason'];
}

/**
 * Train on these groups, bring the weights that come of it to the engines, and answer `weights.published`. The same id
 * again is the same batch: do not train on it twice.
 *
 * Command `train.batch`; answered by `weights.published`.
 */
export interface TrainBatch extends Stamped<'train.batch'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the publication, minted by the policy; new for every try. At most 200 characters. */
  publicationId: string;
  /**
   * Version of the weights that come of it: one more than that of those trained. A whole number, 0 to
   * 4,000,000,000,000,000.
   */
  weightVersion: number;
  /** Its groups, in the order in which they were launched. */
  groups: PacedGroup[];
  /** Samples of these groups. A whole number, 0 or more. */
  samples: number;
  /** Tokens of these groups. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Why, with the numbers. */
  reason: Because<'batch_ready' | 'source_exhausted' | 'host_restarted', {
    /** Groups that were complete and in no batch yet. A whole number, 0 or more. */
    finished: number;
    /** Groups that were generated then. A whole number, 0 or more. */
    inFlight: number;
    /** Most versions that one of its groups is behind the weights that are trained. A whole number, 0 or more. */
    largestLag: number;
  }>['reason'];
}
