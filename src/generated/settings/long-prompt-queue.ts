// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `long-prompt-queue`: its settings, what it is told, and what it answers. */
import type {
  PromptCarried, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned, PromptsReleased,
  PromptsRequest, RewardReady, RoundCompleted, RoundPlanned, RoundRequested, SourceDrained, SourceExhausted,
  SourceReopened,
} from '../messages/index.ts';

/** Configuration of `long-prompt-queue`, as a caller writes it. */
export interface LongPromptQueueInput {
  /** P0: prompts that a round trains on; a long round starts with that many queued. A whole number, 1 or more. */
  promptsPerRound: number;
  /**
   * Over-provisioning of prompts in short rounds. A number, 1 to 16.
   *
   * @defaultValue `1.25`
   */
  promptSpeculation?: number | undefined;
  /**
   * Domains of the source: it is exhausted when each of them is. If absent, it is so only as a whole. Each: at most 512
   * characters.
   */
  domains?: string[] | undefined;
  /**
   * Weight versions that kept tokens may lag behind: their prompts go into the round after which they would be too old,
   * of either kind. 0: no such rule. A whole number.
   *
   * @defaultValue `0`
   */
  maxStaleness?: number | undefined;
  /**
   * Which queued prompts a long round takes first; overdue ones always come before.
   *
   * @defaultValue `'fifo'`
   */
  order?: 'fifo' | 'longest-expected-first' | undefined;
  /** A prompt that was deferred this often forces a long round; never if absent. A whole number, 1 or more. */
  maxDeferrals?: number | undefined;
  /**
   * A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. A whole
   * number, 1 or more.
   *
   * @defaultValue `16`
   */
  maxWaitRounds?: number | undefined;
}

/** Configuration of `long-prompt-queue`, its defaults filled in. */
export interface LongPromptQueueConfig
  extends Pick<LongPromptQueueInput, 'promptsPerRound' | 'domains' | 'maxDeferrals'> {
  /** Over-provisioning of prompts in short rounds. A number, 1 to 16. */
  promptSpeculation: number;
  /**
   * Weight versions that kept tokens may lag behind: their prompts go into the round after which they would be too old,
   * of either kind. 0: no such rule. A whole number.
   */
  maxStaleness: number;
  /** Which queued prompts a long round takes first; overdue ones always come before. */
  order: 'fifo' | 'longest-expected-first';
  /**
   * A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. A whole
   * number, 1 or more.
   */
  maxWaitRounds: number;
}

/** What `long-prompt-queue` is told. */
export type LongPromptQueueEvent =
  | PromptCarried | PromptDeferred | PromptFailed | PromptFiltered | PromptReturned | RewardReady | RoundCompleted
  | RoundRequested | SourceExhausted | SourceReopened;

/** What `long-prompt-queue` asks of the host. */
export type LongPromptQueueCommand = PromptsRequest;

/** What `long-prompt-queue` lets others know. */
export type LongPromptQueueNotice = PromptMerged | PromptsReleased | RoundPlanned | SourceDrained;

/** What `long-prompt-queue` answers. */
export type LongPromptQueueDecision = LongPromptQueueCommand | LongPromptQueueNotice;

/** All types of `long-prompt-queue`, for its definition. */
export interface LongPromptQueueTypes {
  /** Id of the definition. */
  readonly id: 'long-prompt-queue';
  /** Configuration, as a caller writes it. */
  readonly input: LongPromptQueueInput;
  /** Configuration, its defaults filled in. */
  readonly config: LongPromptQueueConfig;
  /** What it is told. */
  readonly event: LongPromptQueueEvent;
  /** What it answers. */
  readonly decision: LongPromptQueueDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: LongPromptQueueCommand['type'];
}
