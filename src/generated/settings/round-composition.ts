// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `round-composition`: its settings, what it is told, and what it answers. */
import type {
  HostRestarted, PromptCounted, PromptDeferred, PromptFiltered, PromptReturned, PromptsRequest, PromptsSupplied,
  RoundFailed, RoundPlanned, RoundRequested, SourceDrained, SourceExhausted, SourceReopened,
} from '../messages/index.ts';

/** Configuration of `round-composition`, as a caller writes it. */
export interface RoundCompositionInput {
  /** P0: prompts that a round trains on. A whole number, 1 or more. */
  promptsPerRound: number;
  /** R0: responses that a prompt needs (the group size). A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * Over-provisioning of prompts by the admission that follows: a round gets that many more. A number, 1 to 16.
   *
   * @defaultValue `1`
   */
  promptSpeculation?: number | undefined;
  /**
   * W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. A whole
   * number, 1 to 1,000.
   *
   * @defaultValue `10`
   */
  windowRounds?: number | undefined;
  /**
   * Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. A whole
   * number, 1 to 10,000,000.
   *
   * @defaultValue `1000000`
   */
  rememberedPrompts?: number | undefined;
}

/** Configuration of `round-composition`, its defaults filled in. */
export interface RoundCompositionConfig extends Pick<RoundCompositionInput, 'promptsPerRound' | 'responsesPerPrompt'> {
  /** Over-provisioning of prompts by the admission that follows: a round gets that many more. A number, 1 to 16. */
  promptSpeculation: number;
  /**
   * W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. A whole
   * number, 1 to 1,000.
   */
  windowRounds: number;
  /**
   * Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. A whole
   * number, 1 to 10,000,000.
   */
  rememberedPrompts: number;
}

/** What `round-composition` is told. */
export type RoundCompositionEvent =
  | HostRestarted | PromptCounted | PromptDeferred | PromptFiltered | PromptReturned | PromptsSupplied | RoundFailed
  | RoundRequested | SourceExhausted | SourceReopened;

/** What `round-composition` asks of the host. */
export type RoundCompositionCommand = PromptsRequest;

/** What `round-composition` lets others know. */
export type RoundCompositionNotice = RoundPlanned | SourceDrained;

/** What `round-composition` answers. */
export type RoundCompositionDecision = RoundCompositionCommand | RoundCompositionNotice;

/** All types of `round-composition`, for its definition. */
export interface RoundCompositionTypes {
  /** Id of the definition. */
  readonly id: 'round-composition';
  /** Configuration, as a caller writes it. */
  readonly input: RoundCompositionInput;
  /** Configuration, its defaults filled in. */
  readonly config: RoundCompositionConfig;
  /** What it is told. */
  readonly event: RoundCompositionEvent;
  /** What it answers. */
  readonly decision: RoundCompositionDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: RoundCompositionCommand['type'];
}
