// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `watchdog`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  EngineLost, GpusReclaim, GpusRelease, GpusReleased, GpusReleaseFailed, GpusReturned, GroupCompleted, GroupDrop,
  GroupLaunch, GroupRejected, HostOwes, HostRestarted, JudgementRequest, MigrationCancel, MigrationFailed, NodeLost,
  OptimizerStep, OptimizerStepped, PreprocessFailed, ProfileMeasure, ProfileMeasured, ProgramClosed, ProgramEnded,
  ProgramLate, ProgramPause, ProgressQuery, ProgressReported, PromptCollected, PromptCounted, PromptDeferred,
  PromptFailed, PromptFiltered, PromptJudged, PromptMerged, PromptReturned, PromptsRequest, PromptsSupplied,
  ReplicaLost, RequestAbort, RequestAborted, RequestAdmit, RequestExpired, RequestLaunch, RequestMigrate,
  RequestMigrated, RequestResume, RequestStarted, ResponseAccepted, ResponseCompleted, ResponseDropped, ResponseFailed,
  RewardCancel, RewardDispatch, RewardFailed, RewardFinished, RewardReady, RewardRequest, RewardWorkerLost,
  RoundCompleted, RoundDrained, RoundFailed, RoundRequested, RoundStalled, SampleMaterialize, SamplePrefetch,
  SamplePreprocess, SamplePreprocessed, SandboxFinished, SandboxRun, SliceFailed, SliceMaterialized, SlotAssign,
  SlotDenied, SlotExpired, SlotFailed, SlotPrewarm, SlotReady, SlotReclaim, SlotReleased, SourceExhausted, TimerFired,
  TimerSet, ToolFinished, ToolStarted, TrainBatch, TrainConsumed, TrainDispatch, TrainFetch, TrainFinish, TrainFinished,
  TurnFinished, TurnRequested, TurnRoute, UpdateConsumed, UpdateLost, WeightsPublish, WeightsPublished,
} from '../messages/index.ts';

/** Configuration of `watchdog`, as a caller writes it. */
export interface WatchdogInput {
  /**
   * No answer is overdue earlier, in seconds, > 0 and at most a day. A number above 0 and at most 86,400.
   *
   * @defaultValue `60`
   */
  floorSeconds?: number | undefined;
  /**
   * When an answer is overdue while fewer than 8 of its kind have come, in seconds, > 0 and at most ten days. A number
   * above 0 and at most 864,000.
   *
   * @defaultValue `1800`
   */
  startSeconds?: number | undefined;
  /**
   * An answer is overdue after this many times what 99 % of the answers of its kind have taken. A number, 1 to 1,000.
   *
   * @defaultValue `3`
   */
  factor?: number | undefined;
  /**
   * Most answers whose wait is followed; the oldest are forgotten. A whole number, 1 to 10,000,000.
   *
   * @defaultValue `100000`
   */
  maxOwed?: number | undefined;
}

/** Configuration of `watchdog`, its defaults filled in. */
export interface WatchdogConfig {
  /** No answer is overdue earlier, in seconds, > 0 and at most a day. A number above 0 and at most 86,400. */
  floorSeconds: number;
  /**
   * When an answer is overdue while fewer than 8 of its kind have come, in seconds, > 0 and at most ten days. A number
   * above 0 and at most 864,000.
   */
  startSeconds: number;
  /**
   * An answer is overdue after this many times what 99 % of the answers of its kind have taken. A number, 1 to 1,000.
   */
  factor: number;
  /** Most answers whose wait is followed; the oldest are forgotten. A whole number, 1 to 10,000,000. */
  maxOwed: number;
}

/** What `watchdog` is told. */
export type WatchdogEvent =
  | EngineLost | GpusReclaim | GpusRelease | GpusReleaseFailed | GpusReleased | GpusReturned | GroupCompleted
  | GroupDrop | GroupLaunch | GroupRejected | HostRestarted | JudgementRequest | MigrationCancel | MigrationFailed
  | NodeLost | OptimizerStep | OptimizerStepped | PreprocessFailed | ProfileMeasure | ProfileMeasured | ProgramClosed
  | ProgramEnded | ProgramLate | ProgramPause | ProgressQuery | ProgressReported | PromptCollected | PromptCounted
  | PromptDeferred | PromptFailed | PromptFiltered | PromptJudged | PromptMerged | PromptReturned | PromptsRequest
  | PromptsSupplied | ReplicaLost | Reported<RewardFailed> | RequestAbort | RequestAborted | RequestAdmit
  | RequestExpired | RequestLaunch | RequestMigrate | RequestMigrated | RequestResume | RequestStarted
  | ResponseAccepted | ResponseCompleted | ResponseDropped | ResponseFailed | RewardCancel | RewardDispatch
  | RewardFinished | RewardReady | RewardRequest | RewardWorkerLost | RoundCompleted | RoundDrained | RoundFailed
  | RoundRequested | SampleMaterialize | SamplePrefetch | SamplePreprocess | SamplePreprocessed | SandboxFinished
  | SandboxRun | SliceFailed | SliceMaterialized | SlotAssign | SlotDenied | SlotExpired | SlotFailed | SlotPrewarm
  | SlotReady | SlotReclaim | SlotReleased | SourceExhausted | TimerFired | TimerSet | ToolFinished | ToolStarted
  | TrainBatch | TrainConsumed | TrainDispatch | TrainFetch | TrainFinish | TrainFinished | TurnFinished | TurnRequested
  | TurnRoute | UpdateConsumed | UpdateLost | WeightsPublish | WeightsPublished;

/** What `watchdog` asks of the host. */
export type WatchdogCommand = TimerSet;

/** What `watchdog` lets others know. */
export type WatchdogNotice = HostOwes | RoundStalled;

/** What `watchdog` answers. */
export type WatchdogDecision = WatchdogCommand | WatchdogNotice;

/** All types of `watchdog`, for its definition. */
export interface WatchdogTypes {
  /** Id of the definition. */
  readonly id: 'watchdog';
  /** Configuration, as a caller writes it. */
  readonly input: WatchdogInput;
  /** Configuration, its defaults filled in. */
  readonly config: WatchdogConfig;
  /** What it is told. */
  readonly event: WatchdogEvent;
  /** What it answers. */
  readonly decision: WatchdogDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: WatchdogCommand['type'];
}
