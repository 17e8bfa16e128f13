// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: training. */
import type { Because, Stamped, TrainingShare } from './objects.ts';

/**
 * A group has all its responses, rewards and advantages and counts for the round.
 *
 * Event `group.completed`.
 */
export interface GroupCompleted extends Stamped<'group.completed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Responses of the group. A whole number, 1 or more. */
  samples: number;
  /** Tokens of the group, all responses together. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /**
   * The `group.launch` that it answers; needed where a policy launches groups (`staleness-pacing`). At most 200
   * characters.
   */
  launchId?: string | undefined;
}

/**
 * A group that was launched does not train: a filter rejects it, or it has failed for good. Another one takes its
 * place.
 *
 * Event `group.rejected`.
 */
export interface GroupRejected extends Stamped<'group.rejected'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Id of the launch of the group, minted by the policy; new for every try. At most 200 characters. */
  launchId: string;
  /** `filtered`: its rewards teach nothing, for example. `failed`: it has no responses, or too few. */
  cause: 'filtered' | 'failed';
}

/**
 * The optimizer has stepped on the gradients of the round, or of one of its updates.
 *
 * Event `optimizer.stepped`.
 */
export interface OptimizerStepped extends Stamped<'optimizer.stepped'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** That of the `optimizer.step` which was carried out. At most 200 characters. */
  updateId: string;
}

/**
 * A training replica is there again, without gradients. May be repeated.
 *
 * Event `replica.added`.
 */
export interface ReplicaAdded extends Stamped<'replica.added'> {
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
}

/**
 * A training replica is gone, with the gradients that it had accumulated. May be repeated.
 *
 * Event `replica.lost`.
 */
export interface ReplicaLost extends Stamped<'replica.lost'> {
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
}

/**
 * A replica has accumulated the gradients of a `train.fetch`.
 *
 * Event `train.consumed`.
 */
export interface TrainConsumed extends Stamped<'train.consumed'> {
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Groups whose gradients are accumulated; those left out go to another try. Each: at most 512 characters. */
  groups: string[];
  /** Samples in the accumulated gradients of these groups. A whole number, 0 or more. */
  samples: number;
  /** Tokens that the loss counted in these groups. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** How long the replica worked on them, in seconds; reference pass included. A number, 0 or more. */
  seconds: number;
}

/**
 * A replica has accumulated the gradients of its share of a `train.finish`.
 *
 * Event `train.finished`.
 */
export interface TrainFinished extends Stamped<'train.finished'> {
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Groups whose gradients are accumulated; those left out go to another try. Each: at most 512 characters. */
  groups: string[];
  /** Samples in the accumulated gradients of these groups. A whole number, 0 or more. */
  samples: number;
  /** Tokens that the loss counted in these groups. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** How long the replica worked on them, in seconds; reference pass included. A number, 0 or more. */
  seconds: number;
}

/**
 * Multiply the accumulated gradients of the replica by this factor, before they are synchronised.
 *
 * Command `gradient.scale`.
 */
export interface GradientScale extends Stamped<'gradient.scale'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Factor; 0 for a replica without units of a mean. */
  factor: number;
  /** Why, with the numbers. */
  reason: Because<'local_mean' | 'local_sum', {
    /** Units of the loss on this replica: samples, tokens or groups. A number, 0 or more. */
    units: number;
    /** Units on all replicas, or the divisor that is configured. A number, 0 or more. */
    total: number;
    /** Replicas of the collective. A whole number, 0 or more. */
    replicas: number;
  }>['reason'];
}

/**
 * Stop what the replica computes, and drop the gradients that it has accumulated.
 *
 * Command `gradients.discard`.
 */
export interface GradientsDiscard extends Stamped<'gradients.discard'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Why, with the numbers. */
  reason: Because<'round_failed' | 'not_final' | 'step_failed', {
    /** How many groups. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}

/**
 * Move the accumulated gradients of the replica to host memory.
 *
 * Command `gradients.offload`.
 */
export interface GradientsOffload extends Stamped<'gradients.offload'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Why, with the numbers. */
  reason: Because<'idle' | 'gpus_returned', {
    /** How many groups. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}

/**
 * Bring the accumulated gradients of the replica back into GPU memory.
 *
 * Command `gradients.reload`.
 */
export interface GradientsReload extends Stamped<'gradients.reload'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Why, with the numbers. */
  reason: Because<'fetch' | 'finish', {
    /** How many groups. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}

/**
 * A completed group that is here already, or of a round that trains on others: it is not trained.
 *
 * Notice `group.late`.
 */
export interface GroupLate extends Stamped<'group.late'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Why, with the numbers. */
  reason: Because<'known' | 'launch_over' | 'round_completed' | 'round_over'>['reason'];
}

/**
 * Completed groups that are not trained.
 *
 * Notice `groups.dropped`.
 */
export interface GroupsDropped extends Stamped<'groups.dropped'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** In the order in which they were completed. Each: at most 512 characters. */
  groups: string[];
  /** Why, with the numbers. */
  reason:
    | Because<'round_failed' | 'not_final', {
        /** How many groups. A whole number, 0 or more. */
        groups: number;
      }>['reason']
    | Because<'zero_variance', {
        /** Population standard deviation of the raw rewards. */
        standardDeviation: number;
        /** Up to which it counts as none. */
        tolerance: number;
      }>['reason']
    | Because<'incomplete', {
        /** Responses of the group that have a reward. A whole number, 0 or more. */
        samples: number;
        /** Responses that a group needs. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'other_weights', {
        /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
        weightVersion: number;
        /** Version of the weights that generated the group. A whole number, 0 to 4,000,000,000,000,000. */
        got: number;
      }>['reason'];
}

/**
 * Synchronise the scaled gradients over these replicas, step once, and answer `optimizer.stepped`.
 *
 * Command `optimizer.step`; answered by `optimizer.stepped`.
 */
export interface OptimizerStep extends Stamped<'optimizer.step'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of this try to step, minted by the policy; it goes into the answer. At most 200 characters. */
  updateId: string;
  /**
   * Every replica of the collective, those without groups included; absent: all of the trainer. Each: at most 512
   * characters.
   */
  replicas?: string[] | undefined;
  /** Groups whose gradients it steps on, where a round has several updates. Each: at most 512 characters. */
  groups?: string[] | undefined;
  /** Samples in the gradients. A whole number, 0 or more. */
  samples: number;
  /** Tokens in the gradients. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Why, with the numbers. */
  reason:
    | Because<'all_finished', {
        /** Groups that were trained. A whole number, 0 or more. */
        groups: number;
        /** Groups that replicas had been sent when the round was complete. A whole number, 0 or more. */
        streamed: number;
        /** Since the round was complete, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'update_consumed', {
        /** Groups of the update. A whole number, 0 or more. */
        groups: number;
        /** Groups of a whole update. A whole number, 1 or more. */
        groupsPerUpdate: number;
        /** Which update of the round, from 0. A whole number. */
        update: number;
        /** How long the trainer has computed for it, in seconds. A number, 0 or more. */
        seconds: number;
      }>['reason'];
}

/**
 * Compute the reference logits of the groups that the replica trains next.
 *
 * Command `reference.compute`.
 */
export interface ReferenceCompute extends Stamped<'reference.compute'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** In the order in which they are trained. Each: at most 512 characters. */
  groups: string[];
  /** Why, with the numbers. */
  reason: Because<'reference_pass', {
    /** How many groups. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}

/**
 * Every group of the round is in one optimizer step, each in one, and the weights are new.
 *
 * Notice `round.trained`.
 */
export interface RoundTrained extends Stamped<'round.trained'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** In the order in which they were completed. Each: at most 512 characters. */
  groups: string[];
  /** Why, with the numbers. */
  reason:
    | Because<'stepped', {
        /** Groups that were trained. A whole number, 0 or more. */
        groups: number;
        /** Groups that replicas had been sent when the round was complete. A whole number, 0 or more. */
        streamed: number;
        /** Since the round was complete, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'published', {
        /** Groups that were trained. A whole number, 0 or more. */
        groups: number;
        /** Updates that they were trained in. A whole number, 0 or more. */
        updates: number;
        /** Since the round was complete, in seconds. A number, 0 or more. */
        afterSeconds: number;
      }>['reason']
    | Because<'nothing_to_train'>['reason'];
}

/**
 * Add the gradients of these groups to those of the replica, without synchronising them, and answer `train.consumed`.
 *
 * Command `train.fetch`; answered by `train.consumed`.
 */
export interface TrainFetch extends Stamped<'train.fetch'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Whole groups, in the order in which they were completed. Each: at most 512 characters. */
  groups: string[];
  /** Samples of these groups. A whole number, 0 or more. */
  samples: number;
  /** Tokens of these groups. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Gradients stay on the replica until the round is over. */
  gradientSync: false;
  /** Optimizer states need no memory yet. */
  optimizerLoaded: false;
  /** Why, with the numbers. */
  reason:
    | Because<'probe', {
        /** Groups of the round that wait to be trained. A whole number, 0 or more. */
        waitingGroups: number;
      }>['reason']
    | Because<'fair_share', {
        /** Groups of the round that wait to be trained. A whole number, 0 or more. */
        waitingGroups: number;
        /** Tokens of these groups. A whole number, 0 to 1,000,000,000,000. */
        waitingTokens: number;
        /** Replicas that train. A whole number, 0 or more. */
        replicas: number;
      }>['reason']
    | Because<'round_end', {
        /** Groups of the round that wait to be trained. A whole number, 0 or more. */
        waitingGroups: number;
        /** Groups of the round that are not complete. A whole number, 0 or more. */
        missingGroups: number;
        /** When the rollout is expected to end, seconds from now. A number, 0 or more. */
        restSeconds: number;
        /** Seconds that the replica takes for a token. A number, 0 or more. */
        secondsPerToken: number;
      }>['reason']
    | Because<'once', {
        /** Groups of the round that wait to be trained. A whole number, 0 or more. */
        waitingGroups: number;
        /** Most groups that are fetched at once. A whole number, 0 or more. */
        capGroups: number;
      }>['reason'];
}

/**
 * Train what remains of the round, each replica its share, and answer `train.finished` for each share.
 *
 * Command `train.finish`; answered by `train.finished`.
 */
export interface TrainFinish extends Stamped<'train.finish'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Groups that are spread by this decision. A whole number, 0 or more. */
  remaining: number;
  /** By replica, in the order of the configuration. */
  shares: TrainingShare[];
  /**
   * When the last replica is expected to be done, seconds from now; absent if nothing was measured yet. A number, 0 or
   * more.
   */
  expectedSeconds?: number | undefined;
  /** Why, with the numbers. */
  reason: Because<'round_completed' | 'replica_lost' | 'host_restarted' | 'partly_consumed' | 'step_failed', {
    /** Groups that are spread by this decision. A whole number, 0 or more. */
    remaining: number;
    /** Groups that replicas had been sent when the round was complete. A whole number, 0 or more. */
    streamed: number;
    /** Replicas that take part. A whole number, 0 or more. */
    replicas: number;
  }>['reason'];
}

/**
 * Groups are to be trained again: their gradients are gone, or were never made.
 *
 * Notice `train.requeued`.
 */
export interface TrainRequeued extends Stamped<'train.requeued'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** In the order in which they will be fetched again. Each: at most 512 characters. */
  groups: string[];
  /** Why, with the numbers. */
  reason: Because<'replica_lost' | 'host_restarted' | 'step_failed' | 'not_final' | 'partly_consumed', {
    /** Groups whose gradients the replica had accumulated. A whole number, 0 or more. */
    consumed: number;
    /** Groups that it had been sent and had not reported. A whole number, 0 or more. */
    inFlight: number;
  }>['reason'];
}

/**
 * A report that is repeated, or about a fetch, an update, a publication, a release or a round that is over: nothing
 * changes.
 *
 * Notice `training.late`.
 */
export interface TrainingLate extends Stamped<'training.late'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId?: string | undefined;
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId?: string | undefined;
  /** Id of the update, minted by the policy; new for every try. At most 200 characters. */
  updateId?: string | undefined;
  /** Id of the publication, minted by the policy; new for every try. At most 200 characters. */
  publicationId?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'fetch_over' | 'release_over' | 'round_over' | 'round_completed' | 'update_over' | 'already_consumed' |
      'publication_over' | 'step_withdrawn'>['reason'];
}

/**
 * Put these weights on the GPUs of the replica, in place of the others.
 *
 * Command `weights.swap`.
 */
export interface WeightsSwap extends Stamped<'weights.swap'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Which weights the replica has next. */
  to: 'reference' | 'actor';
  /** Why, with the numbers. */
  reason: Because<'reference_pass', {
    /** How many groups. A whole number, 0 or more. */
    groups: number;
  }>['reason'];
}
