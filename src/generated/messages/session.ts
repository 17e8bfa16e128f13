// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: session. */
import type { Because, Stamped } from './objects.ts';

/**
 * What the host of a session in shadow mode has decided by itself; the session takes it, not its policy.
 *
 * Event `host.decided`.
 */
export interface HostDecided extends Stamped<'host.decided'> {
  /** The decision, with those of its fields that the host knows. */
  decision: {
    /** A decision of the policy. At most 256 characters. */
    type: string;
    [key: string]: unknown;
  };
}

/**
 * The host has restarted: all that was in flight is gone. No retry budget is charged.
 *
 * Event `host.restarted`.
 */
export interface HostRestarted extends Stamped<'host.restarted'> {
  /** Prefix of every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /**
   * Version of the weights that the trainer goes on from, where that may be another than before, ahead or behind;
   * absent: the same. A whole number, 0 to 4,000,000,000,000,000.
   */
  weightVersion?: number | undefined;
}

/**
 * A timer that a `timer.set` asked for has run out.
 *
 * Event `timer.fired`.
 */
export interface TimerFired extends Stamped<'timer.fired'> {
  /** Id of the timer, minted by the policy. At most 512 characters. */
  timerId: string;
}

/**
 * An answer is overdue. It is said once, until the answer comes or something comes again from where it was silent.
 *
 * Notice `host.owes`.
 */
export interface HostOwes extends Stamped<'host.owes'> {
  /** Who has to act. */
  sender:
    | 'host'
    | 'data source'
    | 'engine'
    | 'environment'
    | 'loader'
    | 'reward worker'
    | 'sandbox'
    | 'timer'
    | 'trainer';
  /** Id of the engine, worker, node or replica that has to act, where it is known. At most 512 characters. */
  by?: string | undefined;
  /** Type of the event that is awaited longest. */
  event: string;
  /** The fields of this event that say which one it is, such as `requestId`. */
  ids: Record<string, string>;
  /** Answers that are owed for this cause, those included that are not overdue yet. A whole number, 1 or more. */
  count: number;
  /** Since when the oldest of them is owed, on the clock of `at`, in seconds. A number, 0 or more. */
  sinceSeconds: number;
  /** Why, with the numbers. */
  reason:
    | Because<'overdue', {
        /** How long the oldest of these answers has been awaited, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Beyond which such an answer is overdue, in seconds. A number, 0 or more. */
        limitSeconds: number;
        /** How long such an answer usually takes: the median, in seconds. A number, 0 or more. */
        usualSeconds?: number | undefined;
        /** From how many answers that was learnt; older ones weigh less. A whole number, 0 or more. */
        answers: number;
      }>['reason']
    | Because<'silent', {
        /** How long the oldest of these answers has been awaited, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Beyond which such an answer is overdue, in seconds. A number, 0 or more. */
        limitSeconds: number;
        /** How long such an answer usually takes: the median, in seconds. A number, 0 or more. */
        usualSeconds?: number | undefined;
        /** From how many answers that was learnt; older ones weigh less. A whole number, 0 or more. */
        answers: number;
        /** How long nothing has come, in seconds. A number, 0 or more. */
        silentSeconds: number;
      }>['reason']
    | Because<'nothing_comes', {
        /** How long the oldest of these answers has been awaited, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Beyond which such an answer is overdue, in seconds. A number, 0 or more. */
        limitSeconds: number;
        /** How long such an answer usually takes: the median, in seconds. A number, 0 or more. */
        usualSeconds?: number | undefined;
        /** From how many answers that was learnt; older ones weigh less. A whole number, 0 or more. */
        answers: number;
        /** How long nothing has come, in seconds. A number, 0 or more. */
        silentSeconds: number;
        /** Engines, workers and kinds of answers that owe something; all are silent. A whole number, 1 or more. */
        causes: number;
      }>['reason'];
}

/**
 * Work goes on and gains nothing: prompts, or groups, are filtered, and none counts. Nobody owes anything. It is said
 * once, until one counts.
 *
 * Notice `round.stalled`.
 */
export interface RoundStalled extends Stamped<'round.stalled'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** How many were filtered since one counted last, in this round and before it. A whole number, 1 or more. */
  filtered: number;
  /** When the first of them was, on the clock of `at`, in seconds. A number, 0 or more. */
  sinceSeconds: number;
  /** Why, with the numbers. */
  reason: Because<'filtered', {
    /** From how many on this is said. A whole number, 1 or more. */
    mostFiltered: number;
    /**
     * How many are filtered, at most, before 99 % of those that count; absent before the first one. A whole number, 0
     * or more.
     */
    highFiltered?: number | undefined;
    /** From how many that count that was learnt; older ones weigh less. A whole number, 0 or more. */
    counted: number;
  }>['reason'];
}

/**
 * Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces it.
 *
 * Command `timer.set`; answered by `timer.fired`.
 */
export interface TimerSet extends Stamped<'timer.set'> {
  /** Id of the timer, minted by the policy. At most 512 characters. */
  timerId: string;
  /** When, on the clock of the host, in seconds. A number, 0 or more. */
  fireAtSeconds: number;
  /**
   * By how much `at` is ahead of the clock of the host, in seconds: this clock has begun anew when the host restarted,
   * and times go on from the latest. Absent while they agree. A number above 0.
   */
  aheadSeconds?: number | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'abort_grace', {
        /** How long the confirmation of an abort is waited for, in seconds. A number, 0 or more. */
        graceSeconds: number;
      }>['reason']
    | Because<'response_timeout', {
        /** How long a request may run, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'stale_weights', {
        /** How long the next try after weights that are too old is put off at most, in seconds. A number, 0 or more. */
        longestPauseSeconds: number;
      }>['reason']
    | Because<'retry_pause', {
        /** How long a retry, or a single try, is put off at most, in seconds. A number, 0 or more. */
        longestPauseSeconds: number;
      }>['reason']
    | Because<'reward_budget', {
        /** Seconds that the worker may take, > 0, at most 1,000,000. */
        budgetSeconds: number;
        /** How long the report of a worker is waited for beyond that, in seconds. A number, 0 or more. */
        graceSeconds: number;
      }>['reason']
    | Because<'reward_cancel_grace', {
        /** How long the report of a worker is waited for beyond that, in seconds. A number, 0 or more. */
        graceSeconds: number;
      }>['reason']
    | Because<'environment_due', {
        /** What has taken too long then, or whether an environment is idle, or tried, for long enough. */
        due: 'start' | 'tool' | 'end' | 'idle' | 'trial';
      }>['reason']
    | Because<'program_waits', {
        /** How long a program may wait for room, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'owed', {
        /** Answers that are owed. A whole number, 1 or more. */
        owed: number;
      }>['reason'];
}
