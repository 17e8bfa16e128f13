// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: parallelism. */
import type { Because, ProfileConfiguration, ProfileRow, ReplicaGroup, RolloutWorkload, Stamped } from './objects.ts';

/**
 * A `kind-tp.set` could not be carried out.
 *
 * Event `kind-tp.failed`.
 */
export interface KindTpFailed extends Stamped<'kind-tp.failed'> {
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * Rows of the profile that were measured: new ones, and ones that replace what was known of the same point.
 *
 * Event `profile.measured`.
 */
export interface ProfileMeasured extends Stamped<'profile.measured'> {
  /** The rows; the last one of a point counts. */
  rows: ProfileRow[];
}

/**
 * What a decode step took in a rollout, to be held against the profile.
 *
 * Event `profile.observed`.
 */
export interface ProfileObserved extends Stamped<'profile.observed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. */
  routingSkew?: number | undefined;
  /** Sequences that one replica runs at once. A whole number, 1 or more. */
  batchSize: number;
  /** Tokens of each sequence. A whole number, 1 or more. */
  sequenceLength: number;
  /** Seconds of one decode step of the batch, > 0. */
  decodeStepSeconds: number;
}

/**
 * The rollout of a round has ended.
 *
 * Event `step.finished`.
 */
export interface StepFinished extends Stamped<'step.finished'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree that it ran with. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Requests that the engines preempted, over all engines. A whole number, 0 or more. */
  preemptions: number;
  /** Seconds of the rollout, without the change of parallelism before it; > 0. */
  seconds: number;
  /** What the round demanded. */
  workload: RolloutWorkload;
}

/**
 * The parallelism of this kind of round stays as it is.
 *
 * Notice `kind-tp.kept`.
 */
export interface KindTpKept extends Stamped<'kind-tp.kept'> {
  /** The round that has ended, if one has. At most 512 characters. */
  roundId?: string | undefined;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'first_step', {
        /** Preemptions of the step, over all engines. A whole number, 0 or more. */
        preemptions: number;
      }>['reason']
    | Because<'steady', {
        /** Preemptions of the step, over all engines. A whole number, 0 or more. */
        preemptions: number;
        /** Preemptions of the step of this kind before. A whole number, 0 or more. */
        previousPreemptions: number;
        /** Steps in a row without a preemption. A whole number, 0 or more. */
        calmSteps: number;
      }>['reason']
    | Because<'cooldown', {
        /** Preemptions of the step, over all engines. A whole number, 0 or more. */
        preemptions: number;
        /** Steps of the cooldown that are left after this one. A whole number, 0 or more. */
        stepsLeft: number;
      }>['reason']
    | Because<'at_bound', {
        /** Least tensor-parallel degree that is possible. A whole number, 1 or more. */
        minTp: number;
        /** Greatest tensor-parallel degree that is possible. A whole number, 1 or more. */
        maxTp: number;
      }>['reason']
    | Because<'vetoed', {
        /** Tensor-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedTp: number;
        /** Expert-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedEp?: number | undefined;
        /** Seconds that the profile predicts with the degrees that were wanted. A number, 0 or more. */
        wantedPredictedSeconds: number;
        /** Seconds that it predicts with those that stay. A number, 0 or more. */
        predictedSeconds: number;
      }>['reason']
    | Because<'does_not_fit', {
        /** Tensor-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedTp: number;
        /** Expert-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedEp?: number | undefined;
      }>['reason']
    | Because<'load_unchanged', {
        /** Tensor-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedTp: number;
        /** Expert-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedEp?: number | undefined;
        /** Load of the step, in tokens. A number, 0 or more. */
        loadTokens: number;
        /** Load at which these degrees were undone or refused, in tokens. A number, 0 or more. */
        barredAtTokens: number;
      }>['reason']
    | Because<'settled', {
        /** Tensor-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedTp: number;
        /** Expert-parallel degree that it would have changed to. A whole number, 1 or more. */
        wantedEp?: number | undefined;
        /** Changes that were made at this load. A whole number, 0 or more. */
        changes: number;
        /** Most changes at one load. A whole number, 0 or more. */
        mostChanges: number;
      }>['reason']
    | Because<'other_parallelism', {
        /** Tensor-parallel degree that the round has run with. A whole number, 1 or more. */
        ranTp: number;
        /** Expert-parallel degree that the round has run with. A whole number, 1 or more. */
        ranEp?: number | undefined;
      }>['reason']
    | Because<'repeated'>['reason']
    | Because<'not_applied' | 'late', {
        /** Tensor-parallel degree that could not be set. A whole number, 1 or more. */
        failedTp: number;
        /** Expert-parallel degree that could not be set. A whole number, 1 or more. */
        failedEp?: number | undefined;
      }>['reason'];
}

/**
 * Run rounds of this kind with these replicas, from the next one on; what runs now is not touched.
 *
 * Command `kind-tp.set`.
 */
export interface KindTpSet extends Stamped<'kind-tp.set'> {
  /** The round whose end led to it, if one did. At most 512 characters. */
  roundId?: string | undefined;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Every replica with its GPUs, each inside one server. */
  replicas: ReplicaGroup[];
  /** Why, with the numbers. */
  reason:
    | Because<'start_configured' | 'start_smallest' | 'host_restarted'>['reason']
    | Because<'start_profile', {
        /** Seconds of a rollout step that the profile predicts. A number, 0 or more. */
        predictedSeconds: number;
      }>['reason']
    | Because<'profile_selected', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
        /** Seconds of a rollout step that the profile predicts. A number, 0 or more. */
        predictedSeconds: number;
        /** The same with the degrees before, where the profile knows them. A number, 0 or more. In seconds. */
        fromPredictedSeconds?: number | undefined;
      }>['reason']
    | Because<'routing_skewed', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
        /** Seconds of a rollout step that the profile predicts. A number, 0 or more. */
        predictedSeconds: number;
        /** The same with the degrees before, where the profile knows them. A number, 0 or more. In seconds. */
        fromPredictedSeconds?: number | undefined;
        /** Observed tokens of the most loaded expert rank ÷ their mean over the ranks. A number, 0 or more. */
        routingSkew: number;
      }>['reason']
    | Because<'preemptions_rose', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
        /** Preemptions of the step, over all engines. A whole number, 0 or more. */
        preemptions: number;
        /** Preemptions of the step of this kind before. A whole number, 0 or more. */
        previousPreemptions: number;
      }>['reason']
    | Because<'preemption_free', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
        /** Steps in a row without a preemption. A whole number, 0 or more. */
        steps: number;
      }>['reason']
    | Because<'undone', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
        /** Measured ÷ predicted seconds of the step after the change. A number, 0 or more. */
        measuredToPredicted: number;
        /**
         * The same before the change: of the last step, or the mean over its steps if that is more. A number, 0 or
         * more.
         */
        before: number;
      }>['reason']
    | Because<'not_applied', {
        /** Tensor-parallel degree before. A whole number, 1 or more. */
        fromTp: number;
        /** Expert-parallel degree before. A whole number, 1 or more. */
        fromEp?: number | undefined;
      }>['reason'];
}

/**
 * Measure these points and answer with `profile.measured`; asked for again while observations stay far off.
 *
 * Command `profile.measure`; answered by `profile.measured`.
 */
export interface ProfileMeasure extends Stamped<'profile.measure'> {
  /** Points to measure, by batch size and length. */
  configurations: ProfileConfiguration[];
  /** Why, with the numbers. */
  reason:
    | Because<'observed_far', {
        /** Rounds of such observations in a row. A whole number, 0 or more. */
        rounds: number;
        /** Seconds of a decode step that were observed. A number, 0 or more. */
        observedSeconds: number;
        /** Seconds that the profile says for such a step. A number, 0 or more. */
        profileSeconds: number;
      }>['reason']
    | Because<'not_profiled', {
        /** Rounds of such observations in a row. A whole number, 0 or more. */
        rounds: number;
        /** Seconds of a decode step that were observed. A number, 0 or more. */
        observedSeconds: number;
      }>['reason'];
}

/**
 * Run this round with these replicas: change the engines, where they differ, before its requests are launched.
 *
 * Command `round-tp.set`.
 */
export interface RoundTpSet extends Stamped<'round-tp.set'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Every replica with its GPUs, each inside one server. */
  replicas: ReplicaGroup[];
  /** Why, with the numbers. */
  reason: Because<'round_planned' | 'host_restarted'>['reason'];
}
