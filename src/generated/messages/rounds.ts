// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: rounds. */
import type { Because, FinalPrompt, Prompt, Stamped } from './objects.ts';

/**
 * Prompts that `prompts.request` asked for, in portions of any size.
 *
 * Event `prompts.supplied`.
 */
export interface PromptsSupplied extends Stamped<'prompts.supplied'> {
  /** The round of the `prompts.request`; prompts for another round are returned. At most 512 characters. */
  roundId: string;
  /** In any number and order; what is beyond the count stands by. A prompt that is here already is merged. */
  prompts: Prompt[];
}

/**
 * The open round is given up by the host: nothing of it was trained.
 *
 * Event `round.failed`.
 */
export interface RoundFailed extends Stamped<'round.failed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * A rollout round begins with these prompts; what is missing is asked for.
 *
 * Event `round.opened`.
 */
export interface RoundOpened extends Stamped<'round.opened'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Prompts that it begins with, in order. */
  prompts: Prompt[];
}

/**
 * The host is ready to begin a rollout round: engines are known where the policy places requests, and the last round
 * has drained.
 *
 * Event `round.requested`.
 */
export interface RoundRequested extends Stamped<'round.requested'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
}

/**
 * The data source has no more prompts, for good or until `source.reopened`.
 *
 * Event `source.exhausted`.
 */
export interface SourceExhausted extends Stamped<'source.exhausted'> {
  /** Only this domain is exhausted. At most 512 characters. */
  domain?: string | undefined;
}

/**
 * The data source has prompts again (a new epoch).
 *
 * Event `source.reopened`.
 */
export interface SourceReopened extends Stamped<'source.reopened'> {}

/**
 * Queued prompts join the open round, because the source has no others for it. Those that it does not start come back.
 *
 * Notice `prompts.released`.
 */
export interface PromptsReleased extends Stamped<'prompts.released'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** These prompts, in order. */
  queued: Prompt[];
  /** Why, with the numbers. */
  reason: Because<'source_exhausted', {
    /** Prompts in the queue. A whole number, 0 or more. */
    queued: number;
  }>['reason'];
}

/**
 * Supply this many prompts, in portions of any size.
 *
 * Command `prompts.request`; answered by `prompts.supplied`, `source.exhausted`.
 */
export interface PromptsRequest extends Stamped<'prompts.request'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Prompts that are still missing. A whole number, 1 or more. */
  count: number;
  /** The same, by domain, where quotas are set. Each: a whole number, 1 or more. */
  domains?: Record<string, number> | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'round_opened', {
        /** Prompts that the round is to begin, speculation included. A whole number, 0 or more. */
        target: number;
        /** Prompts that are here for it, those that wait included. A whole number, 0 or more. */
        known: number;
      }>['reason']
    | Because<'window_begun', {
        /** Rounds that are composed together. A whole number, 0 or more. */
        rounds: number;
        /** Prompts from which they are composed. A whole number, 0 or more. */
        target: number;
        /** Prompts that are here for them. A whole number, 0 or more. */
        known: number;
      }>['reason']
    | Because<'within_staleness', {
        /** Groups that are launched, or wait to be, and are in no batch yet. A whole number, 0 or more. */
        groups: number;
        /** How many these may be, so that none gets too old. A whole number, 0 or more. */
        allowed: number;
      }>['reason']
    | Because<'filtered' | 'passed_over' | 'failed' | 'merged' | 'to_compare' | 'host_restarted', {
        /** Prompts that the round is to begin, speculation included. A whole number, 0 or more. */
        target: number;
        /** Prompts that were admitted to it, or wait to be. A whole number, 0 or more. */
        admitted: number;
      }>['reason'];
}

/**
 * The round has all that it trains on: the responses named here, and no others. Its reason says why they may be fewer
 * than planned, or none.
 *
 * Notice `round.completed`; an event of `long-prompt-queue`, `reward-dispatch`, `group-assembly`, `stream-training`,
 * `adaptive-tp`, `gpu-scale-down`, `frontier-group-dispatch`, `watchdog`.
 */
export interface RoundCompleted extends Stamped<'round.completed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** In the order in which the prompts entered the round. */
  prompts: FinalPrompt[];
  /** When the round was opened. A number, 0 or more. In seconds. */
  openedSeconds: number;
  /** Prompts deferred or carried at its end. A whole number, 0 or more. */
  deferred: number;
  /** Why, with the numbers. */
  reason:
    | Because<'quota_reached' | 'source_exhausted' | 'only_duplicates' | 'round_failed' | 'all_ended', {
        /** Prompts of the round that count. A whole number, 0 or more. */
        counted: number;
        /** Prompts that the round needs. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'filtered', {
        /** Prompts of the round that count. A whole number, 0 or more. */
        counted: number;
        /** Prompts that the round needs. A whole number, 0 or more. */
        needed: number;
        /** Prompts that it has filtered. A whole number, 0 or more. */
        filtered: number;
        /** After how many it asks for no more. A whole number, 1 or more. */
        maxFiltered: number;
      }>['reason'];
}

/**
 * Nothing of the round is in flight any more: the weights may be updated.
 *
 * Notice `round.drained`; an event of `watchdog`.
 */
export interface RoundDrained extends Stamped<'round.drained'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'all_ended', {
    /** Since the round was complete, in seconds. A number, 0 or more. */
    afterSeconds: number;
  }>['reason'];
}

/**
 * What the next round is: its kind, and the queued prompts that it begins with.
 *
 * Notice `round.planned`; an event of `adaptive-tp`.
 */
export interface RoundPlanned extends Stamped<'round.planned'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Queued prompts that it begins with, in order. */
  queued: Prompt[];
  /** Why, with the numbers. */
  reason:
    | Because<'queue_below_threshold' | 'queue_full', {
        /** Prompts in the queue. A whole number, 0 or more. */
        queued: number;
        /** P0: prompts that a round trains on. A whole number. */
        promptsPerRound: number;
      }>['reason']
    | Because<'prompt_overdue', {
        /** How often the prompt that is overdue has been deferred. A whole number, 0 or more. */
        deferrals: number;
        /** How many rounds it has waited. A whole number, 0 or more. */
        waitedRounds: number;
      }>['reason']
    | Because<'source_exhausted', {
        /** Prompts in the queue. A whole number, 0 or more. */
        queued: number;
        /** Prompts that run on into it, if there are any. A whole number, 0 or more. */
        carried?: number | undefined;
      }>['reason']
    | Because<'composed', {
        /** Prompts that were here before the round took its own. A whole number, 0 or more. */
        waiting: number;
        /** Prompts of the round that were due, whatever their length. A whole number, 0 or more. */
        due: number;
        /** Greatest expected length of the longest response of its other prompts. In tokens. */
        longestTokens: number;
        /** Least expected length of the same; equal lengths keep the order of the data. In tokens. */
        shortestTokens: number;
      }>['reason'];
}

/**
 * A round was open when the host restarted, and is open still: it waits to be ended, or to be given up by
 * `round.failed`.
 *
 * Notice `round.resumed`.
 */
export interface RoundResumed extends Stamped<'round.resumed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /**
   * Version of the weights that it is generated with, where it is known. A whole number, 0 to 4,000,000,000,000,000.
   */
  weightVersion?: number | undefined;
  /** Prompts, or groups, of the round that are known here, in order. Each: at most 512 characters. */
  promptIds: string[];
  /** Why, with the numbers. */
  reason: Because<'host_restarted', {
    /** How many these are. A whole number, 0 or more. */
    prompts: number;
  }>['reason'];
}

/**
 * Answers `round.requested` where no prompt is left: no round with this id begins, so that no `round.drained` follows.
 *
 * Notice `source.drained`.
 */
export interface SourceDrained extends Stamped<'source.drained'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'source_exhausted'>['reason'];
}

/**
 * The speculation factor that the next rounds use (`speculation: auto`).
 *
 * Notice `speculation.chosen`.
 */
export interface SpeculationChosen extends Stamped<'speculation.chosen'> {
  /** Factor for prompts. */
  promptSpeculation: number;
  /** Factor for responses. */
  responseSpeculation: number;
  /** Why, with the numbers. */
  reason:
    | Because<'exploring', {
        /** Rounds that were measured so far. A whole number, 0 or more. */
        round: number;
        /** How many are to be measured. A whole number, 0 or more. */
        rounds: number;
      }>['reason']
    | Because<'fixed', {
        /** Seconds of a round with the factor that is chosen. A number, 0 or more. */
        secondsPerRound: number;
        /** Rounds that were measured, with all factors. A whole number, 0 or more. */
        measuredRounds: number;
      }>['reason'];
}
