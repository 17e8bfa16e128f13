// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `frontier-group-dispatch`: its settings, what it is told, and what it answers. */
import type {
  FrontierResized, FrontierStarved, GroupLeft, HostRestarted, PromptCollected, PromptDeferred, PromptFailed,
  RequestAbort, RequestAborted, RequestAdmit, RequestArrived, RequestAwaited, RequestDeferred, RequestDropped,
  RequestLaunch, ResponseAbandoned, ResponseCompleted, ResponseDropped, ResponseFailed, ResponseLate, ResponseSurplus,
  RoundCompleted, RoundFailed, TrainConsumed,
} from '../messages/index.ts';

/** Configuration of `frontier-group-dispatch`, as a caller writes it. */
export interface FrontierGroupDispatchInput {
  /** K: requests of a group; it has left when that many have ended. A whole number, 1 or more. */
  responsesPerPrompt: number;
  /** F_w: most groups in service at once; `auto`: measured and planned anew for every round. */
  width: number | 'auto';
  /**
   * U: groups that the trainer takes at a time; what `auto` and the suggested width reckon with. A whole number, 1 or
   * more.
   *
   * @defaultValue `1`
   */
  groupsPerUpdate?: number | undefined;
  /**
   * Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more.
   *
   * @defaultValue `96`
   */
  startRequests?: number | undefined;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   *
   * @defaultValue `0.2`
   */
  starvedShare?: number | undefined;
  /**
   * Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has failed
   * for good.
   *
   * @defaultValue `false`
   */
  awaitRetries?: boolean | undefined;
  /**
   * Whether a closed group leaves at once, with what still runs of it; if not, as soon as that has ended.
   *
   * @defaultValue `false`
   */
  closeAtOnce?: boolean | undefined;
  /**
   * What stands before every request id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `frontier-group-dispatch`, its defaults filled in. */
export interface FrontierGroupDispatchConfig extends Pick<FrontierGroupDispatchInput, 'responsesPerPrompt' | 'width'> {
  /**
   * U: groups that the trainer takes at a time; what `auto` and the suggested width reckon with. A whole number, 1 or
   * more.
   */
  groupsPerUpdate: number;
  /** Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more. */
  startRequests: number;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   */
  starvedShare: number;
  /**
   * Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has failed
   * for good.
   */
  awaitRetries: boolean;
  /** Whether a closed group leaves at once, with what still runs of it; if not, as soon as that has ended. */
  closeAtOnce: boolean;
  /** What stands before every request id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `frontier-group-dispatch` is told. */
export type FrontierGroupDispatchEvent =
  | HostRestarted | PromptCollected | PromptDeferred | PromptFailed | RequestAbort | RequestAborted | RequestArrived
  | RequestLaunch | ResponseAbandoned | ResponseCompleted | ResponseDropped | ResponseFailed | ResponseSurplus
  | RoundCompleted | RoundFailed | TrainConsumed;

/** What `frontier-group-dispatch` asks of the host. */
export type FrontierGroupDispatchCommand = RequestAdmit;

/** What `frontier-group-dispatch` lets others know. */
export type FrontierGroupDispatchNotice =
  | FrontierResized | FrontierStarved | GroupLeft | RequestAwaited | RequestDeferred | RequestDropped | ResponseLate;

/** What `frontier-group-dispatch` answers. */
export type FrontierGroupDispatchDecision = FrontierGroupDispatchCommand | FrontierGroupDispatchNotice;

/** All types of `frontier-group-dispatch`, for its definition. */
export interface FrontierGroupDispatchTypes {
  /** Id of the definition. */
  readonly id: 'frontier-group-dispatch';
  /** Configuration, as a caller writes it. */
  readonly input: FrontierGroupDispatchInput;
  /** Configuration, its defaults filled in. */
  readonly config: FrontierGroupDispatchConfig;
  /** What it is told. */
  readonly event: FrontierGroupDispatchEvent;
  /** What it answers. */
  readonly decision: FrontierGroupDispatchDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: FrontierGroupDispatchCommand['type'];
}
