// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `prompt-selection`: its settings, what it is told, and what it answers. */
import type {
  EpochEnded, GroupRewarded, HostRestarted, PromptCounted, PromptDeferred, PromptFiltered, PromptMerged, PromptReturned,
  PromptsPassed, PromptsRequest, PromptsSelected, PromptsSupplied, RoundFailed, RoundRequested, SourceDrained,
  SourceExhausted, SourceReopened,
} from '../messages/index.ts';

/** Configuration of `prompt-selection`, as a caller writes it. */
export interface PromptSelectionInput {
  /** P0: prompts of a round. Absent: only a `prompts.request` says how many are needed. A whole number, 1 or more. */
  promptsPerRound?: number | undefined;
  /** R0: responses that a prompt needs (the group size). A whole number, 2 to 4,096. */
  responsesPerPrompt: number;
  /**
   * `prompts`: as many are taken as are needed. `kept`: so many that as many are likely to be kept by a filter of
   * groups whose rewards are equal, up to four times as many.
   *
   * @defaultValue `'prompts'`
   */
  fill?: 'prompts' | 'kept' | undefined;
  /**
   * What becomes of prompts that are passed over. `return`: `prompts.passed` hands them back. `last`: they wait here,
   * and are taken at the end of the epoch, so that only the order changes.
   *
   * @defaultValue `'return'`
   */
  passedOver?: 'return' | 'last' | undefined;
  /**
   * Least responses of a prompt, where they are shared out by what they are worth; R0 if absent. A whole number, 2 to
   * 4,096.
   */
  minResponses?: number | undefined;
  /**
   * Most responses of a prompt. A round has R0 times as many responses as it has prompts. A whole number, 2 to 4,096.
   */
  maxResponses?: number | undefined;
  /**
   * Expected tokens of all responses of a round: it has no more prompts and responses than fit, and one prompt at
   * least. A whole number, 1 or more.
   */
  tokensPerRound?: number | undefined;
  /**
   * `binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale.
   *
   * @defaultValue `'binary'`
   */
  rewards?: 'binary' | 'real' | undefined;
  /**
   * With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1.
   *
   * @defaultValue `1`
   */
  passReward?: number | undefined;
  /**
   * That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by their
   * variance.
   *
   * @defaultValue `'std'`
   */
  normalization?: 'std' | 'none' | undefined;
  /**
   * Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token.
   *
   * @defaultValue `0.5`
   */
  lengthExponent?: number | undefined;
  /**
   * A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance (worth
   * ÷ that)². 0: each is taken. A number, 0 to 16.
   *
   * @defaultValue `1`
   */
  threshold?: number | undefined;
  /**
   * Least chance with which a prompt is taken when it is offered, whatever it is worth. A number, 0 to 1.
   *
   * @defaultValue `0.02`
   */
  explorationShare?: number | undefined;
  /**
   * A prompt is passed over so many times in a row at most, that is, for so many epochs. A whole number, 0 or more.
   *
   * @defaultValue `16`
   */
  maxPasses?: number | undefined;
  /**
   * A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no such
   * floor. A number, 0 to 1.
   *
   * @defaultValue `0.25`
   */
  domainFloor?: number | undefined;
  /**
   * A round passes nothing over any more once so many times the prompts that it needs were offered. A whole number, 1
   * to 1,000.
   *
   * @defaultValue `8`
   */
  maxOffered?: number | undefined;
  /**
   * Share of the weight of what is known about a prompt that remains after each new version of the weights. A number,
   * 0.01 to 1.
   *
   * @defaultValue `0.99`
   */
  retention?: number | undefined;
  /**
   * What is known of the domain counts as much as so many responses of the prompt itself. A number, 0.01 to 1,000.
   *
   * @defaultValue `2`
   */
  priorResponses?: number | undefined;
  /**
   * Prompts of which rewards and lengths are remembered; the others count as new ones of their domain. A whole number,
   * 1 to 10,000,000.
   *
   * @defaultValue `1000000`
   */
  rememberedPrompts?: number | undefined;
  /**
   * Seed of the draws. A whole number, 0 to 4,294,967,295.
   *
   * @defaultValue `0`
   */
  seed?: number | undefined;
  /**
   * Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all prompts.
   *
   * @defaultValue `false`
   */
  unbiased?: boolean | undefined;
}

/** Configuration of `prompt-selection`, its defaults filled in. */
export interface PromptSelectionConfig
  extends Pick<PromptSelectionInput, 'promptsPerRound' | 'responsesPerPrompt' | 'minResponses' | 'maxResponses' |
      'tokensPerRound'> {
  /**
   * `prompts`: as many are taken as are needed. `kept`: so many that as many are likely to be kept by a filter of
   * groups whose rewards are equal, up to four times as many.
   */
  fill: 'prompts' | 'kept';
  /**
   * What becomes of prompts that are passed over. `return`: `prompts.passed` hands them back. `last`: they wait here,
   * and are taken at the end of the epoch, so that only the order changes.
   */
  passedOver: 'return' | 'last';
  /** `binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale. */
  rewards: 'binary' | 'real';
  /** With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1. */
  passReward: number;
  /**
   * That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by their
   * variance.
   */
  normalization: 'std' | 'none';
  /** Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token. */
  lengthExponent: number;
  /**
   * A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance (worth
   * ÷ that)². 0: each is taken. A number, 0 to 16.
   */
  threshold: number;
  /** Least chance with which a prompt is taken when it is offered, whatever it is worth. A number, 0 to 1. */
  explorationShare: number;
  /** A prompt is passed over so many times in a row at most, that is, for so many epochs. A whole number, 0 or more. */
  maxPasses: number;
  /**
   * A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no such
   * floor. A number, 0 to 1.
   */
  domainFloor: number;
  /**
   * A round passes nothing over any more once so many times the prompts that it needs were offered. A whole number, 1
   * to 1,000.
   */
  maxOffered: number;
  /**
   * Share of the weight of what is known about a prompt that remains after each new version of the weights. A number,
   * 0.01 to 1.
   */
  retention: number;
  /** What is known of the domain counts as much as so many responses of the prompt itself. A number, 0.01 to 1,000. */
  priorResponses: number;
  /**
   * Prompts of which rewards and lengths are remembered; the others count as new ones of their domain. A whole number,
   * 1 to 10,000,000.
   */
  rememberedPrompts: number;
  /** Seed of the draws. A whole number, 0 to 4,294,967,295. */
  seed: number;
  /**
   * Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all prompts.
   */
  unbiased: boolean;
}

/** What `prompt-selection` is told. */
export type PromptSelectionEvent =
  | GroupRewarded | HostRestarted | PromptCounted | PromptDeferred | PromptFiltered | PromptReturned | PromptsRequest
  | PromptsSupplied | RoundFailed | RoundRequested | SourceExhausted | SourceReopened;

/** What `prompt-selection` asks of the host. */
export type PromptSelectionCommand = PromptsRequest;

/** What `prompt-selection` lets others know. */
export type PromptSelectionNotice = EpochEnded | PromptMerged | PromptsPassed | PromptsSelected | SourceDrained;

/** What `prompt-selection` answers. */
export type PromptSelectionDecision = PromptSelectionCommand | PromptSelectionNotice;

/** All types of `prompt-selection`, for its definition. */
export interface PromptSelectionTypes {
  /** Id of the definition. */
  readonly id: 'prompt-selection';
  /** Configuration, as a caller writes it. */
  readonly input: PromptSelectionInput;
  /** Configuration, its defaults filled in. */
  readonly config: PromptSelectionConfig;
  /** What it is told. */
  readonly event: PromptSelectionEvent;
  /** What it answers. */
  readonly decision: PromptSelectionDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: PromptSelectionCommand['type'];
}
