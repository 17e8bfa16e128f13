// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `gpu-scale-down`: its settings, what it is told, and what it answers. */
import type {
  EngineAdded, EngineDrained, EngineLost, EnginesPlaced, GpusReclaim, GpusRelease, GpusReleased, GpusReleaseFailed,
  GpusReturned, HostRestarted, MigrationAbandoned, MigrationCancel, MigrationFailed, ProgressQuery, ProgressReported,
  PromptCounted, RequestAbort, RequestAborted, RequestMigrate, RequestMigrated, ResponseAccepted, ResponseCompleted,
  RoundCompleted, RoundOpened, ScaleDownLate, ScaleDownRejected,
} from '../messages/index.ts';
import type { PlacedEngine } from '../messages/objects.ts';

/** Configuration of `gpu-scale-down`, as a caller writes it. */
export interface GpuScaleDownInput {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses of each of them. A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * The engines that roll out, with the GPUs that they run on; none until `engines.placed` names them.
   *
   * @defaultValue `[]`
   */
  engines?: PlacedEngine[] | undefined;
  /**
   * GPUs that a data-parallel replica needs together in training: none of these groups is split.
   *
   * @defaultValue `[]`
   */
  communicationGroups?: string[][] | undefined;
  /** Longest response, in tokens, over all attempts. A whole number, 1 to 16,777,216. */
  maxResponseTokens: number;
  /** KV cache of a token, in bytes; with `kvCapacityBytes`. A number above 0. */
  bytesPerToken?: number | undefined;
  /**
   * What progress counts: accepted responses of P0 · R0, or counted prompts of P0.
   *
   * @defaultValue `'responses'`
   */
  progressUnit?: 'responses' | 'prompts' | undefined;
  /**
   * `adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits.
   *
   * @defaultValue `'adaptive'`
   */
  trigger?: 'adaptive' | number | undefined;
  /**
   * Progress at which it is evaluated first (`adaptive`), included. A number above 0 and at most 1.
   *
   * @defaultValue `0.2`
   */
  firstFraction?: number | undefined;
  /**
   * Progress beyond which it is not evaluated (`adaptive`), included. A number above 0 and at most 1.
   *
   * @defaultValue `0.5`
   */
  lastFraction?: number | undefined;
  /**
   * Progress from one evaluation to the next at least (`adaptive`). A number above 0 and at most 1.
   *
   * @defaultValue `0.05`
   */
  fractionStep?: number | undefined;
  /**
   * Chance that the KV cache of every remaining engine stays below its projected peak. A number, 0.5 to 0.9999.
   *
   * @defaultValue `0.95`
   */
  quantile?: number | undefined;
  /**
   * Share of the weight of earlier rounds of a kind that remains after each of them. A number, 0 to 1.
   *
   * @defaultValue `0.9`
   */
  historyRetention?: number | undefined;
  /**
   * Tries to move a request before the release is given up. A whole number, 1 or more.
   *
   * @defaultValue `2`
   */
  maxMigrationAttempts?: number | undefined;
}

/** Configuration of `gpu-scale-down`, its defaults filled in. */
export interface GpuScaleDownConfig
  extends Pick<GpuScaleDownInput, 'promptsPerRound' | 'responsesPerPrompt' | 'maxResponseTokens' | 'bytesPerToken'> {
  /** The engines that roll out, with the GPUs that they run on; none until `engines.placed` names them. */
  engines: PlacedEngine[];
  /** GPUs that a data-parallel replica needs together in training: none of these groups is split. */
  communicationGroups: string[][];
  /** What progress counts: accepted responses of P0 · R0, or counted prompts of P0. */
  progressUnit: 'responses' | 'prompts';
  /** `adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits. */
  trigger: 'adaptive' | number;
  /** Progress at which it is evaluated first (`adaptive`), included. A number above 0 and at most 1. */
  firstFraction: number;
  /** Progress beyond which it is not evaluated (`adaptive`), included. A number above 0 and at most 1. */
  lastFraction: number;
  /** Progress from one evaluation to the next at least (`adaptive`). A number above 0 and at most 1. */
  fractionStep: number;
  /** Chance that the KV cache of every remaining engine stays below its projected peak. A number, 0.5 to 0.9999. */
  quantile: number;
  /** Share of the weight of earlier rounds of a kind that remains after each of them. A number, 0 to 1. */
  historyRetention: number;
  /** Tries to move a request before the release is given up. A whole number, 1 or more. */
  maxMigrationAttempts: number;
}

/** What `gpu-scale-down` is told. */
export type GpuScaleDownEvent =
  | EngineAdded | EngineDrained | EngineLost | EnginesPlaced | GpusReleaseFailed | GpusReleased | GpusReturned
  | HostRestarted | MigrationFailed | ProgressReported | PromptCounted | RequestAbort | RequestAborted | RequestMigrated
  | ResponseAccepted | ResponseCompleted | RoundCompleted | RoundOpened;

/** What `gpu-scale-down` asks of the host. */
export type GpuScaleDownCommand = GpusReclaim | GpusRelease | MigrationCancel | ProgressQuery | RequestMigrate;

/** What `gpu-scale-down` lets others know. */
export type GpuScaleDownNotice = MigrationAbandoned | ScaleDownLate | ScaleDownRejected;

/** What `gpu-scale-down` answers. */
export type GpuScaleDownDecision = GpuScaleDownCommand | GpuScaleDownNotice;

/** All types of `gpu-scale-down`, for its definition. */
export interface GpuScaleDownTypes {
  /** Id of the definition. */
  readonly id: 'gpu-scale-down';
  /** Configuration, as a caller writes it. */
  readonly input: GpuScaleDownInput;
  /** Configuration, its defaults filled in. */
  readonly config: GpuScaleDownConfig;
  /** What it is told. */
  readonly event: GpuScaleDownEvent;
  /** What it answers. */
  readonly decision: GpuScaleDownDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: GpuScaleDownCommand['type'];
}
