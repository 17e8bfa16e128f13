// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: pipelining. */
import type { Because, MicroBatch, Stamped } from './objects.ts';

/**
 * The trainer is there again, without gradients, and with the weights of an earlier moment of the round.
 *
 * Event `trainer.restarted`.
 */
export interface TrainerRestarted extends Stamped<'trainer.restarted'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Updates of the round that are in these weights, from the first one on. A whole number, 0 or more. */
  updates: number;
}

/**
 * The trainer has accumulated the gradients of these groups of a `train.dispatch`; in one report or in several.
 *
 * Event `update.consumed`.
 */
export interface UpdateConsumed extends Stamped<'update.consumed'> {
  /** Id of the update, minted by the policy; new for every try. At most 200 characters. */
  updateId: string;
  /** Groups of the update that were not reported before. Each: at most 512 characters. */
  groups: string[];
  /** How long the trainer computed for them, in seconds. A number, 0 or more. */
  seconds: number;
}

/**
 * No gradient of a `train.dispatch` is there: it never arrived, failed, or its step failed.
 *
 * Event `update.lost`.
 */
export interface UpdateLost extends Stamped<'update.lost'> {
  /** Id of the update, minted by the policy; new for every try. At most 200 characters. */
  updateId: string;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * The rollout engines have the weights that a `weights.publish` asked for, or that came of a `train.batch`.
 *
 * Event `weights.published`.
 */
export interface WeightsPublished extends Stamped<'weights.published'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the publication, minted by the policy; new for every try. At most 200 characters. */
  publicationId: string;
  /** Version of these weights: later than that of the round. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
}

/**
 * A group is complete, with statistics and advantages: it waits for its update.
 *
 * Notice `group.trainable`.
 */
export interface GroupTrainable extends Stamped<'group.trainable'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Its place among the trainable groups of the round, from 0: the order of training. A whole number. */
  order: number;
  /** Responses of the group. A whole number, 1 or more. */
  samples: number;
  /** Tokens of the group, prompts included where they are known. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Mean of its rewards. */
  mean: number;
  /** Their standard deviation, of the kind that is configured. A number, 0 or more. */
  std: number;
  /** Its responses, by index. Each: at most 1,200 characters. */
  requestIds: string[];
  /** The advantage of each of them, in the same order. */
  advantages: number[];
  /** Why, with the numbers. */
  reason: Because<'materialized', {
    /** Groups that wait for an update, this one included. A whole number, 0 or more. */
    waiting: number;
    /** Groups of a whole update. A whole number, 1 or more. */
    groupsPerUpdate: number;
  }>['reason'];
}

/**
 * How well the trainer was fed in the round: times from the opening of the round, and waiting ratios.
 *
 * Notice `pipeline.measured`.
 */
export interface PipelineMeasured extends Stamped<'pipeline.measured'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Until every group had its rewards: when a serial trainer would begin. A number, 0 or more. In seconds. */
  rolloutSeconds: number;
  /** Until the groups of the first update were trainable. A number, 0 or more. In seconds. */
  firstBatchSeconds: number;
  /** Until the first update was dispatched. A number, 0 or more. In seconds. */
  firstDispatchSeconds: number;
  /**
   * What pipelining takes off the wait (RolloutPipe equation 3): `rolloutSeconds` − `firstBatchSeconds`. A number, 0 or
   * more.
   */
  recoverySeconds: number;
  /** Until the optimizer had made its last step. A number, 0 or more. In seconds. */
  trainEndSeconds: number;
  /** Seconds of these in which the trainer had no update. A number, 0 or more. */
  waitSeconds: number;
  /** Seconds that the trainer has reported; work that was lost counts too. A number, 0 or more. */
  computeSeconds: number;
  /**
   * RolloutPipe equation 4: `firstDispatchSeconds` ÷ `trainEndSeconds`, the wait before the first update alone. A
   * number, 0 to 1.
   */
  startWaitingRatio: number;
  /** RolloutPipe §5.1: `waitSeconds` ÷ (`waitSeconds` + `computeSeconds`). A number, 0 to 1. */
  computeWaitingRatio: number;
  /** RolloutPipe §3.2, in words: `waitSeconds` ÷ `trainEndSeconds`. A number, 0 to 1. */
  wallClockWaitingRatio: number;
  /** Why, with the numbers. */
  reason: Because<'round_trained', {
    /** Groups that were trained. A whole number, 0 or more. */
    groups: number;
    /** Updates that they were trained in. A whole number, 0 or more. */
    updates: number;
    /** Groups that were not trained. A whole number, 0 or more. */
    dropped: number;
    /** Tries of these updates. A whole number, 0 or more. */
    dispatches: number;
  }>['reason'];
}

/**
 * Accumulate the gradients of this update, after the optimizer has stepped on the one before, and answer
 * `update.consumed`.
 *
 * Command `train.dispatch`; answered by `update.consumed`, `update.lost`.
 */
export interface TrainDispatch extends Stamped<'train.dispatch'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the update, minted by the policy; new for every try. At most 200 characters. */
  updateId: string;
  /** Which update of the round, from 0. A whole number. */
  update: number;
  /** Version of the weights that generated every response of it. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Whole groups, in the order in which they became trainable. Each: at most 512 characters. */
  groups: string[];
  /** Samples of these groups: what the loss of the update is divided by. A whole number, 0 or more. */
  samples: number;
  /** Tokens of these groups, prompts included where they are known. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** The same groups, in the same order, under the token budget. */
  microBatches: MicroBatch[];
  /** Why, with the numbers. */
  reason:
    | Because<'batch_ready' | 'round_end', {
        /** Groups that waited for an update. A whole number, 0 or more. */
        waiting: number;
        /** Groups of a whole update. A whole number, 1 or more. */
        groupsPerUpdate: number;
      }>['reason']
    | Because<'update_lost' | 'trainer_restarted' | 'host_restarted', {
        /** Tries of this update before this one. A whole number, 0 or more. */
        attempts: number;
        /** Groups of it that the try before had reported. A whole number, 0 or more. */
        consumed: number;
      }>['reason'];
}

/**
 * Stop these updates, and drop the gradients that they have accumulated: their round is given up.
 *
 * Command `update.cancel`.
 */
export interface UpdateCancel extends Stamped<'update.cancel'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** In the order of their updates. Each: at most 200 characters. */
  updateIds: string[];
  /** Why, with the numbers. */
  reason: Because<'round_failed', {
    /** Groups of these updates. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}

/**
 * Export the weights of the trainer to the rollout engines, and answer `weights.published`.
 *
 * Command `weights.publish`; answered by `weights.published`.
 */
export interface WeightsPublish extends Stamped<'weights.publish'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the publication, minted by the policy; new for every try. At most 200 characters. */
  publicationId: string;
  /**
   * Version that the round was generated with: the one that is replaced. A whole number, 0 to 4,000,000,000,000,000.
   */
  weightVersion: number;
  /** Why, with the numbers. */
  reason:
    | Because<'all_consumed', {
        /** Groups that were trained. A whole number, 0 or more. */
        groups: number;
        /** Updates that they were trained in. A whole number, 0 or more. */
        updates: number;
        /** Since the rollout of the round ended, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'round_failed' | 'trainer_restarted' | 'host_restarted', {
        /** Groups that were trained. A whole number, 0 or more. */
        groups: number;
        /** Updates that they were trained in. A whole number, 0 or more. */
        updates: number;
      }>['reason'];
}
