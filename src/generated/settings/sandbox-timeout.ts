// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `sandbox-timeout`: its settings, what it is told, and what it answers. */
import type {
  HostRestarted, SandboxCancelled, SandboxFinished, SandboxLate, SandboxReport, SandboxReportRequested,
  SandboxRequested, SandboxRun, SandboxScored, SandboxUnscored,
} from '../messages/index.ts';

/** Configuration of `sandbox-timeout`, as a caller writes it. */
export interface SandboxTimeoutInput {
  /**
   * λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. A number, 1 to
   * 1,000.
   *
   * @defaultValue `4`
   */
  timeoutFactor?: number | undefined;
  /**
   * Tmin: no timeout is shorter, in seconds. A number, 0 or more.
   *
   * @defaultValue `2`
   */
  minTimeoutSeconds?: number | undefined;
  /**
   * Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
   * day. A number above 0 and at most 86,400.
   *
   * @defaultValue `30`
   */
  maxTimeoutSeconds?: number | undefined;
  /**
   * Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. A whole number.
   *
   * @defaultValue `16`
   */
  exploreEvery?: number | undefined;
  /**
   * Most test cases whose anchors are kept; the least recently used leave. A whole number, 1 to 10,000,000.
   *
   * @defaultValue `100000`
   */
  maxTestCases?: number | undefined;
  /**
   * Most runs that reports are made from; the oldest leave. A whole number, 1 to 1,000,000.
   *
   * @defaultValue `2048`
   */
  historyRuns?: number | undefined;
}

/** Configuration of `sandbox-timeout`, its defaults filled in. */
export interface SandboxTimeoutConfig {
  /**
   * λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. A number, 1 to
   * 1,000.
   */
  timeoutFactor: number;
  /** Tmin: no timeout is shorter, in seconds. A number, 0 or more. */
  minTimeoutSeconds: number;
  /**
   * Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
   * day. A number above 0 and at most 86,400.
   */
  maxTimeoutSeconds: number;
  /**
   * Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. A whole number.
   */
  exploreEvery: number;
  /** Most test cases whose anchors are kept; the least recently used leave. A whole number, 1 to 10,000,000. */
  maxTestCases: number;
  /** Most runs that reports are made from; the oldest leave. A whole number, 1 to 1,000,000. */
  historyRuns: number;
}

/** What `sandbox-timeout` is told. */
export type SandboxTimeoutEvent =
  | HostRestarted | SandboxCancelled | SandboxFinished | SandboxReportRequested | SandboxRequested;

/** What `sandbox-timeout` asks of the host. */
export type SandboxTimeoutCommand = SandboxRun;

/** What `sandbox-timeout` lets others know. */
export type SandboxTimeoutNotice = SandboxLate | SandboxReport | SandboxScored | SandboxUnscored;

/** What `sandbox-timeout` answers. */
export type SandboxTimeoutDecision = SandboxTimeoutCommand | SandboxTimeoutNotice;

/** All types of `sandbox-timeout`, for its definition. */
export interface SandboxTimeoutTypes {
  /** Id of the definition. */
  readonly id: 'sandbox-timeout';
  /** Configuration, as a caller writes it. */
  readonly input: SandboxTimeoutInput;
  /** Configuration, its defaults filled in. */
  readonly config: SandboxTimeoutConfig;
  /** What it is told. */
  readonly event: SandboxTimeoutEvent;
  /** What it answers. */
  readonly decision: SandboxTimeoutDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: SandboxTimeoutCommand['type'];
}
