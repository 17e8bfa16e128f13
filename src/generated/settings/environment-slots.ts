// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `environment-slots`: its settings, what it is told, and what it answers. */
import type {
  HostRestarted, ProgramClosed, SlotAssign, SlotDenied, SlotExpired, SlotFailed, SlotLate, SlotPrewarm, SlotReady,
  SlotReclaim, SlotReleased, SlotRequested, SlotsChanged, SlotsRecovered, SlotsSuspended, TimerFired, TimerSet,
  ToolFinished, ToolStarted,
} from '../messages/index.ts';

/** Configuration of `environment-slots`, as a caller writes it. */
export interface EnvironmentSlotsInput {
  /**
   * Most environments of each kind at the start; `slots.changed` replaces them. Each: a whole number, 0 or more.
   *
   * @defaultValue `{}`
   */
  slots?: Record<string, number> | undefined;
  /**
   * λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. A
   * number, 1 to 1,000.
   *
   * @defaultValue `4`
   */
  toolTimeoutFactor?: number | undefined;
  /**
   * Tmin: no tool, and no start, is given less, in seconds. A number, 0 or more.
   *
   * @defaultValue `60`
   */
  minToolTimeoutSeconds?: number | undefined;
  /**
   * Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a day.
   * A number above 0 and at most 86,400.
   *
   * @defaultValue `1800`
   */
  maxToolTimeoutSeconds?: number | undefined;
  /**
   * Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. A whole number.
   *
   * @defaultValue `16`
   */
  toolExploreEvery?: number | undefined;
  /**
   * The most that the start of an environment may take, in seconds, > 0 and at most a day. A number above 0 and at most
   * 86,400.
   *
   * @defaultValue `600`
   */
  maxStartSeconds?: number | undefined;
  /**
   * Seconds until an environment whose end is not confirmed counts as gone. A number above 0.
   *
   * @defaultValue `60`
   */
  endGraceSeconds?: number | undefined;
  /**
   * The most that an environment without a program is kept for the next, in seconds; less where that did not pay. A
   * number above 0.
   *
   * @defaultValue `600`
   */
  maxIdleSeconds?: number | undefined;
  /**
   * Environments of a kind that fail one after the other until no more are started. A whole number, 1 or more.
   *
   * @defaultValue `5`
   */
  suspendAfter?: number | undefined;
  /**
   * Seconds until an environment of a suspended kind is tried; twice as long after each failure. A number above 0.
   *
   * @defaultValue `10`
   */
  retrySeconds?: number | undefined;
  /**
   * The longest time between two such tries, in seconds. A number above 0.
   *
   * @defaultValue `600`
   */
  maxRetrySeconds?: number | undefined;
  /**
   * How many environments of a program may fail before it gets no other. A whole number, 0 or more.
   *
   * @defaultValue `2`
   */
  retries?: number | undefined;
  /**
   * Prefix of every slot id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `environment-slots`, its defaults filled in. */
export interface EnvironmentSlotsConfig {
  /** Most environments of each kind at the start; `slots.changed` replaces them. Each: a whole number, 0 or more. */
  slots: Record<string, number>;
  /**
   * λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. A
   * number, 1 to 1,000.
   */
  toolTimeoutFactor: number;
  /** Tmin: no tool, and no start, is given less, in seconds. A number, 0 or more. */
  minToolTimeoutSeconds: number;
  /**
   * Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a day.
   * A number above 0 and at most 86,400.
   */
  maxToolTimeoutSeconds: number;
  /** Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. A whole number. */
  toolExploreEvery: number;
  /**
   * The most that the start of an environment may take, in seconds, > 0 and at most a day. A number above 0 and at most
   * 86,400.
   */
  maxStartSeconds: number;
  /** Seconds until an environment whose end is not confirmed counts as gone. A number above 0. */
  endGraceSeconds: number;
  /**
   * The most that an environment without a program is kept for the next, in seconds; less where that did not pay. A
   * number above 0.
   */
  maxIdleSeconds: number;
  /** Environments of a kind that fail one after the other until no more are started. A whole number, 1 or more. */
  suspendAfter: number;
  /** Seconds until an environment of a suspended kind is tried; twice as long after each failure. A number above 0. */
  retrySeconds: number;
  /** The longest time between two such tries, in seconds. A number above 0. */
  maxRetrySeconds: number;
  /** How many environments of a program may fail before it gets no other. A whole number, 0 or more. */
  retries: number;
  /** Prefix of every slot id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `environment-slots` is told. */
export type EnvironmentSlotsEvent =
  | HostRestarted | ProgramClosed | SlotFailed | SlotReady | SlotReleased | SlotRequested | SlotsChanged | TimerFired
  | ToolFinished | ToolStarted;

/** What `environment-slots` asks of the host. */
export type EnvironmentSlotsCommand = SlotAssign | SlotPrewarm | SlotReclaim | TimerSet;

/** What `environment-slots` lets others know. */
export type EnvironmentSlotsNotice = SlotDenied | SlotExpired | SlotLate | SlotsRecovered | SlotsSuspended;

/** What `environment-slots` answers. */
export type EnvironmentSlotsDecision = EnvironmentSlotsCommand | EnvironmentSlotsNotice;

/** All types of `environment-slots`, for its definition. */
export interface EnvironmentSlotsTypes {
  /** Id of the definition. */
  readonly id: 'environment-slots';
  /** Configuration, as a caller writes it. */
  readonly input: EnvironmentSlotsInput;
  /** Configuration, its defaults filled in. */
  readonly config: EnvironmentSlotsConfig;
  /** What it is told. */
  readonly event: EnvironmentSlotsEvent;
  /** What it answers. */
  readonly decision: EnvironmentSlotsDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: EnvironmentSlotsCommand['type'];
}
