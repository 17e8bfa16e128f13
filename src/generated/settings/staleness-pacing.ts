// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `staleness-pacing`: its settings, what it is told, and what it answers. */
import type {
  GroupCompleted, GroupDrop, GroupLate, GroupLaunch, GroupRejected, GroupWithdrawn, HostRestarted, PromptMerged,
  PromptReturned, PromptsRequest, PromptsSupplied, RoundDrained, RoundRequested, RoundResumed, SourceDrained,
  SourceExhausted, SourceReopened, TrainBatch, TrainingLate, WeightsPublished,
} from '../messages/index.ts';

/** Configuration of `staleness-pacing`, as a caller writes it. */
export interface StalenessPacingInput {
  /**
   * P: groups of a batch. The trainer makes one version of the weights from each batch. A whole number, 1 to 100,000.
   */
  groupsPerBatch: number;
  /**
   * η: most versions that the weights may have advanced from the first token of a group to its batch. A whole number, 0
   * to 1,000.
   *
   * @defaultValue `1`
   */
  maxStaleness?: number | undefined;
  /**
   * W: a batch takes groups from the W oldest alone, in the order of their launches; at least P. Absent: as many as may
   * be in flight. A whole number, 1 or more.
   */
  windowGroups?: number | undefined;
  /**
   * Most groups that are launched and in no batch, where fewer than staleness allows are enough: they are fresher. At
   * least P. A whole number, 1 or more.
   */
  maxGroups?: number | undefined;
  /**
   * Batches that the trainer may have at once: the one that it trains, and those that it has fetched ahead. More than η
   * + 1 are never used. A whole number, 1 to 64.
   *
   * @defaultValue `1`
   */
  maxBatches?: number | undefined;
  /**
   * Prefix of every id of a launch and of a batch; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `staleness-pacing`, its defaults filled in. */
export interface StalenessPacingConfig
  extends Pick<StalenessPacingInput, 'groupsPerBatch' | 'windowGroups' | 'maxGroups'> {
  /**
   * η: most versions that the weights may have advanced from the first token of a group to its batch. A whole number, 0
   * to 1,000.
   */
  maxStaleness: number;
  /**
   * Batches that the trainer may have at once: the one that it trains, and those that it has fetched ahead. More than η
   * + 1 are never used. A whole number, 1 to 64.
   */
  maxBatches: number;
  /** Prefix of every id of a launch and of a batch; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `staleness-pacing` is told. */
export type StalenessPacingEvent =
  | GroupCompleted | GroupRejected | HostRestarted | PromptsSupplied | RoundRequested | SourceExhausted | SourceReopened
  | WeightsPublished;

/** What `staleness-pacing` asks of the host. */
export type StalenessPacingCommand = GroupDrop | GroupLaunch | PromptsRequest | TrainBatch;

/** What `staleness-pacing` lets others know. */
export type StalenessPacingNotice =
  | GroupLate | GroupWithdrawn | PromptMerged | PromptReturned | RoundDrained | RoundResumed | SourceDrained
  | TrainingLate;

/** What `staleness-pacing` answers. */
export type StalenessPacingDecision = StalenessPacingCommand | StalenessPacingNotice;

/** All types of `staleness-pacing`, for its definition. */
export interface StalenessPacingTypes {
  /** Id of the definition. */
  readonly id: 'staleness-pacing';
  /** Configuration, as a caller writes it. */
  readonly input: StalenessPacingInput;
  /** Configuration, its defaults filled in. */
  readonly config: StalenessPacingConfig;
  /** What it is told. */
  readonly event: StalenessPacingEvent;
  /** What it answers. */
  readonly decision: StalenessPacingDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: StalenessPacingCommand['type'];
}
