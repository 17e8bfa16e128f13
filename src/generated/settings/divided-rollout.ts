// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `divided-rollout`: its settings, what it is told, and what it answers. */
import type {
  ChunkAwaited, ChunkContinue, ChunkFinished, ChunkLate, ChunksRequested, EngineAdded, EngineDrained, EngineLost,
  EngineReported, EnginesChanged, HostRestarted, RequestAborted, RequestEnded, RequestOpened, ResponseCompleted,
  ResponseFailed,
} from '../messages/index.ts';

/** Configuration of `divided-rollout`, as a caller writes it. */
export interface DividedRolloutInput {
  /**
   * Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more.
   *
   * @defaultValue `400000`
   */
  kvCapacityTokens?: number | undefined;
  /**
   * Part of its KV cache that the chunks of an engine may fill. A number, 0.05 to 1.
   *
   * @defaultValue `0.97`
   */
  budgetShare?: number | undefined;
  /**
   * A request that has waited so long for room, in seconds, is next. A number above 0 and at most 1,000,000.
   *
   * @defaultValue `14400`
   */
  maxWaitSeconds?: number | undefined;
  /**
   * Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more.
   *
   * @defaultValue `10000`
   */
  prefillTokensPerSecond?: number | undefined;
  /**
   * Tokens of a context that an engine loads in a second from a KV cache that engines share; absent: there is none, and
   * an engine reads the context again. A number, 1 or more.
   */
  poolTokensPerSecond?: number | undefined;
  /**
   * What a chunk costs its response, in seconds, beside its tokens: the way to the host and back. A number, 0 or more.
   *
   * @defaultValue `0.03`
   */
  chunkSeconds?: number | undefined;
  /** How long an engine takes to generate a token for each of its responses. The order of magnitude is enough. */
  decode?:
    | {
        /**
         * Seconds of a step, whatever runs. A number, 0 or more.
         *
         * @defaultValue `0.01`
         */
        stepSeconds?: number | undefined;
        /**
         * Seconds that each running response adds to a step. A number, 0 or more.
         *
         * @defaultValue `0.0002`
         */
        sequenceSeconds?: number | undefined;
        /**
         * Seconds that each token in the contexts of running responses adds to a step. A number, 0 or more.
         *
         * @defaultValue `3e-8`
         */
        contextTokenSeconds?: number | undefined;
      }
    | undefined;
  /**
   * Prompts whose lengths are remembered, for when they return. A whole number, 1 to 10,000,000.
   *
   * @defaultValue `1000000`
   */
  rememberedPrompts?: number | undefined;
}

/** Configuration of `divided-rollout`, its defaults filled in. */
export interface DividedRolloutConfig extends Pick<DividedRolloutInput, 'poolTokensPerSecond'> {
  /** Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more. */
  kvCapacityTokens: number;
  /** Part of its KV cache that the chunks of an engine may fill. A number, 0.05 to 1. */
  budgetShare: number;
  /** A request that has waited so long for room, in seconds, is next. A number above 0 and at most 1,000,000. */
  maxWaitSeconds: number;
  /** Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more. */
  prefillTokensPerSecond: number;
  /**
   * What a chunk costs its response, in seconds, beside its tokens: the way to the host and back. A number, 0 or more.
   */
  chunkSeconds: number;
  /** How long an engine takes to generate a token for each of its responses. The order of magnitude is enough. */
  decode: {
    /** Seconds of a step, whatever runs. A number, 0 or more. */
    stepSeconds: number;
    /** Seconds that each running response adds to a step. A number, 0 or more. */
    sequenceSeconds: number;
    /** Seconds that each token in the contexts of running responses adds to a step. A number, 0 or more. */
    contextTokenSeconds: number;
  };
  /** Prompts whose lengths are remembered, for when they return. A whole number, 1 to 10,000,000. */
  rememberedPrompts: number;
}

/** What `divided-rollout` is told. */
export type DividedRolloutEvent =
  | ChunkFinished | ChunksRequested | EngineAdded | EngineDrained | EngineLost | EngineReported | EnginesChanged
  | HostRestarted | RequestAborted | RequestOpened | ResponseCompleted | ResponseFailed;

/** What `divided-rollout` asks of the host. */
export type DividedRolloutCommand = ChunkContinue;

/** What `divided-rollout` lets others know. */
export type DividedRolloutNotice = ChunkAwaited | ChunkLate | RequestEnded;

/** What `divided-rollout` answers. */
export type DividedRolloutDecision = DividedRolloutCommand | DividedRolloutNotice;

/** All types of `divided-rollout`, for its definition. */
export interface DividedRolloutTypes {
  /** Id of the definition. */
  readonly id: 'divided-rollout';
  /** Configuration, as a caller writes it. */
  readonly input: DividedRolloutInput;
  /** Configuration, its defaults filled in. */
  readonly config: DividedRolloutConfig;
  /** What it is told. */
  readonly event: DividedRolloutEvent;
  /** What it answers. */
  readonly decision: DividedRolloutDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: DividedRolloutCommand['type'];
}
