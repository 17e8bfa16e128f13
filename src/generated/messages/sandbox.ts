// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: sandbox. */
import type { Because, Stamped, TimeoutEstimate } from './objects.ts';

/**
 * The host has given up a run: nobody needs it.
 *
 * Event `sandbox.cancelled`.
 */
export interface SandboxCancelled extends Stamped<'sandbox.cancelled'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
}

/**
 * A run has ended.
 *
 * Event `sandbox.finished`.
 */
export interface SandboxFinished extends Stamped<'sandbox.finished'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** `timeout`: stopped at the timeout that it was given. `infrastructure`: the sandbox failed, not the code in it. */
  outcome: 'correct' | 'wrong' | 'timeout' | 'infrastructure';
  /** How long the code ran, in seconds; without waiting for a sandbox. A number, 0 to 1,000,000,000. */
  seconds: number;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * The host asks what other timeouts would have cost and saved.
 *
 * Event `sandbox.report.requested`.
 */
export interface SandboxReportRequested extends Stamped<'sandbox.report.requested'> {
  /** Values of λ to judge, each 1 to 1000; 1, 1.25, 1.5, 2, 3, 4, 6, 8 and 16 if absent. */
  factors?: number[] | undefined;
}

/**
 * A test case is to be run in a sandbox.
 *
 * Event `sandbox.requested`.
 */
export interface SandboxRequested extends Stamped<'sandbox.requested'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** Id of the test case, given by the host; the same whenever it is run. At most 512 characters. */
  testCaseId: string;
}

/**
 * A report about a run that is over: nothing changes.
 *
 * Notice `sandbox.late`.
 */
export interface SandboxLate extends Stamped<'sandbox.late'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** Why, with the numbers. */
  reason: Because<'already_ended'>['reason'];
}

/**
 * What other timeouts would have cost and saved, from the runs that are remembered.
 *
 * Notice `sandbox.report`.
 */
export interface SandboxReport extends Stamped<'sandbox.report'> {
  /** Runs remembered: those that had an anchor and scored. A whole number, 0 or more. */
  runs: number;
  /** Correct ones among them. A whole number, 0 or more. */
  correctRuns: number;
  /** Runs among them that were given the maximum to explore. A whole number, 0 or more. */
  exploredRuns: number;
  /** Correct ones among those: `exploredKilled` is to be held against them. A whole number, 0 or more. */
  exploredCorrectRuns: number;
  /** Seconds that they took. A number, 0 or more. */
  runSeconds: number;
  /** Seconds with the maximum for all; timed-out ones count up to it. A number, 0 or more. */
  fixedSeconds: number;
  /** One for each λ asked for, in that order. */
  estimates: TimeoutEstimate[];
  /** Test cases with an anchor. A whole number, 0 or more. */
  testCases: number;
  /** Test cases that left because there were too many. A whole number, 0 or more. */
  forgottenTestCases: number;
  /** Why, with the numbers. */
  reason: Because<'requested', {
    /** Most runs that are remembered. A whole number, 0 or more. */
    historyRuns: number;
  }>['reason'];
}

/**
 * Run the code, and stop it after this time.
 *
 * Command `sandbox.run`; answered by `sandbox.finished`.
 */
export interface SandboxRun extends Stamped<'sandbox.run'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** Id of the test case, given by the host; the same whenever it is run. At most 512 characters. */
  testCaseId: string;
  /** How long the code may run, in seconds. A number above 0. */
  timeoutSeconds: number;
  /** Why, with the numbers. */
  reason:
    | Because<'anchored', {
        /** The longest correct run of the test case, in seconds. A number, 0 or more. */
        anchorSeconds: number;
        /** λ: the timeout is this many times the anchor. */
        timeoutFactor: number;
        /** Tmin: the shortest timeout, in seconds. A number, 0 or more. */
        minTimeoutSeconds: number;
        /** Tmax: the longest timeout, in seconds. A number above 0. */
        maxTimeoutSeconds: number;
      }>['reason']
    | Because<'no_anchor', {
        /** Tmax: the longest timeout, in seconds. A number above 0. */
        maxTimeoutSeconds: number;
      }>['reason']
    | Because<'exploration', {
        /** The longest correct run of the test case, in seconds. A number, 0 or more. */
        anchorSeconds: number;
        /** How many runs there are for one that explores. A whole number, 0 or more. */
        exploreEvery: number;
      }>['reason'];
}

/**
 * A run has ended and scores.
 *
 * Notice `sandbox.scored`.
 */
export interface SandboxScored extends Stamped<'sandbox.scored'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** Id of the test case, given by the host; the same whenever it is run. At most 512 characters. */
  testCaseId: string;
  /** 1 for a correct run, else 0. */
  score: 0 | 1;
  /** Why, with the numbers. */
  reason:
    | Because<'correct', {
        /** How long the run took, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long the code may run, in seconds. A number above 0. */
        timeoutSeconds: number;
        /** The longest correct run of the test case, in seconds. A number, 0 or more. */
        anchorSeconds: number;
      }>['reason']
    | Because<'wrong', {
        /** How long the run took, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long the code may run, in seconds. A number above 0. */
        timeoutSeconds: number;
      }>['reason']
    | Because<'timeout', {
        /** How long the run took, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long the code may run, in seconds. A number above 0. */
        timeoutSeconds: number;
        /** Tmax: the longest timeout, in seconds. A number above 0. */
        maxTimeoutSeconds: number;
      }>['reason'];
}

/**
 * A run has ended without a score, through no fault of the code: it may be run again, as a new run.
 *
 * Notice `sandbox.unscored`.
 */
export interface SandboxUnscored extends Stamped<'sandbox.unscored'> {
  /** Id of the run, given by the host; new for every run. At most 512 characters. */
  runId: string;
  /** Id of the test case, given by the host; the same whenever it is run. At most 512 characters. */
  testCaseId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'infrastructure', {
        /** How long the run took, in seconds. A number, 0 or more. */
        seconds: number;
      }>['reason']
    | Because<'cancelled' | 'host_restarted'>['reason'];
}
