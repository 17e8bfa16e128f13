// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: parallelism. */
import type { ProfileConfiguration, ProfileRow, ReplicaGroup, RolloutWorkload } from './objects.ts';

/**
 * Rows of the profile that were measured: new ones, and ones that replace what was known of the same point.
 *
 * Event `profile.measured`.
 */
export interface ProfileMeasured {
  /** Which event or decision it is. */
  type: 'profile.measured';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** The rows; the last one of a point counts. */
  rows: ProfileRow[];
}

/**
 * What a decode step took in a rollout, to be held against the profile.
 *
 * Event `profile.observed`.
 */
export interface ProfileObserved {
  /** Which event or decision it is. */
  type: 'profile.observed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** Tokens of the most loaded expert rank ÷ their mean over the ranks, ≥ 1; 1 if absent. */
  routingSkew?: number | undefined;
  /** Sequences that one replica runs at once. A whole number, >= 1. */
  batchSize: number;
  /** Tokens of each sequence. A whole number, >= 1. */
  sequenceLength: number;
  /** Seconds of one decode step of the batch, > 0. */
  decodeStepSeconds: number;
}

/**
 * The rollout of a round has ended.
 *
 * Event `step.finished`.
 */
export interface StepFinished {
  /** Which event or decision it is. */
  type: 'step.finished';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree that it ran with. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** Requests that the engines preempted, over all engines. A whole number, >= 0. */
  preemptions: number;
  /** Seconds of the rollout, without the change of parallelism before it; > 0. */
  seconds: number;
  /** What the round demanded. */
  workload: RolloutWorkload;
}

/**
 * A `tp.set` could not be carried out.
 *
 * Event `tp.failed`.
 */
export interface TpFailed {
  /** Which event or decision it is. */
  type: 'tp.failed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** What went wrong, for operators. At most 2,000 characters. */
  message?: string | undefined;
}

/**
 * Measure these points and answer with `profile.measured`; asked for again while observations stay far off.
 *
 * Command `profile.measure`; answered by `profile.measured`.
 */
export interface ProfileMeasure {
  /** Which event or decision it is. */
  type: 'profile.measure';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Points to measure, by batch size and length. */
  configurations: ProfileConfiguration[];
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'observed_far';
        /**  A whole number, >= 0. */
        rounds: number;
        /** Seconds, >= 0. */
        observedSeconds: number;
        /** Seconds, >= 0. */
        profileSeconds: number;
      }
    | {
        /** Which reason it is. */
        code: 'not_profiled';
        /**  A whole number, >= 0. */
        rounds: number;
        /** Seconds, >= 0. */
        observedSeconds: number;
      };
}

/**
 * The parallelism of this kind of round stays as it is.
 *
 * Notice `tp.kept`.
 */
export interface TpKept {
  /** Which event or decision it is. */
  type: 'tp.kept';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** The round that has ended, if one has. At most 512 characters. */
  roundId?: string | undefined;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'first_step';
        /**  A whole number, >= 0. */
        preemptions: number;
      }
    | {
        /** Which reason it is. */
        code: 'steady';
        /**  A whole number, >= 0. */
        preemptions: number;
        /**  A whole number, >= 0. */
        previousPreemptions: number;
        /**  A whole number, >= 0. */
        calmSteps: number;
      }
    | {
        /** Which reason it is. */
        code: 'cooldown';
        /**  A whole number, >= 0. */
        preemptions: number;
        /**  A whole number, >= 0. */
        stepsLeft: number;
      }
    | {
        /** Which reason it is. */
        code: 'at_bound';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        minTp: number;
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        maxTp: number;
      }
    | {
        /** Which reason it is. */
        code: 'vetoed';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        wantedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        wantedEp?: number | undefined;
        /** Seconds, >= 0. */
        wantedPredictedSeconds: number;
        /** Seconds, >= 0. */
        predictedSeconds: number;
      }
    | {
        /** Which reason it is. */
        code: 'does_not_fit';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        wantedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        wantedEp?: number | undefined;
      }
    | {
        /** Which reason it is. */
        code: 'load_unchanged';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        wantedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        wantedEp?: number | undefined;
        /**  A number, >= 0. In tokens. */
        loadTokens: number;
        /**  A number, >= 0. In tokens. */
        barredAtTokens: number;
      }
    | {
        /** Which reason it is. */
        code: 'settled';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        wantedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        wantedEp?: number | undefined;
        /**  A whole number, >= 0. */
        changes: number;
        /**  A whole number, >= 0. */
        mostChanges: number;
      }
    | {
        /** Which reason it is. */
        code: 'other_parallelism';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        ranTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        ranEp?: number | undefined;
      }
    | {
        /** Which reason it is. */
        code: 'repeated';
      }
    | {
        /** Which reason it is. */
        code: 'not_applied';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        failedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        failedEp?: number | undefined;
      }
    | {
        /** Which reason it is. */
        code: 'late';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        failedTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        failedEp?: number | undefined;
      };
}

/**
 * Run rounds of this kind with these replicas, from the next one on; what runs now is not touched.
 *
 * Command `tp.set`.
 */
export interface TpSet {
  /** Which event or decision it is. */
  type: 'tp.set';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** The round whose end led to it, if one did. At most 512 characters. */
  roundId?: string | undefined;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** Every replica with its GPUs, each inside one server. */
  replicas: ReplicaGroup[];
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'start_configured';
      }
    | {
        /** Which reason it is. */
        code: 'start_smallest';
      }
    | {
        /** Which reason it is. */
        code: 'start_profile';
        /** Seconds, >= 0. */
        predictedSeconds: number;
      }
    | {
        /** Which reason it is. */
        code: 'host_restarted';
      }
    | {
        /** Which reason it is. */
        code: 'profile_selected';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
        /** Seconds, >= 0. */
        predictedSeconds: number;
        /** Seconds, >= 0. */
        fromPredictedSeconds?: number | undefined;
      }
    | {
        /** Which reason it is. */
        code: 'routing_skewed';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
        /** Seconds, >= 0. */
        predictedSeconds: number;
        /** Seconds, >= 0. */
        fromPredictedSeconds?: number | undefined;
        /**  A number, >= 0. */
        routingSkew: number;
      }
    | {
        /** Which reason it is. */
        code: 'preemptions_rose';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
        /**  A whole number, >= 0. */
        preemptions: number;
        /**  A whole number, >= 0. */
        previousPreemptions: number;
      }
    | {
        /** Which reason it is. */
        code: 'preemption_free';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
        /**  A whole number, >= 0. */
        steps: number;
      }
    | {
        /** Which reason it is. */
        code: 'undone';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
        /**  A number, >= 0. */
        measuredToPredicted: number;
        /**  A number, >= 0. */
        before: number;
      }
    | {
        /** Which reason it is. */
        code: 'not_applied';
        /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
        fromTp: number;
        /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
        fromEp?: number | undefined;
      };
}

/**
 * Run this round with these replicas: change the engines, where they differ, before its requests are launched.
 *
 * Command `tp.use`.
 */
export interface TpUse {
  /** Which event or decision it is. */
  type: 'tp.use';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, >= 1. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, >= 1. */
  ep?: number | undefined;
  /** Every replica with its GPUs, each inside one server. */
  replicas: ReplicaGroup[];
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'round_planned';
  };
}
