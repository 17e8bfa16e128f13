// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `program-scheduling`: its settings, what it is told, and what it answers. */
import type {
  EngineAdded, EngineDrained, EngineFreed, EngineLost, EngineReported, EnginesChanged, HostRestarted, KvRetain,
  ProgramAwaited, ProgramClosed, ProgramEnded, ProgramLate, ProgramOpened, ProgramPause, ProgramResume,
  ResponseCompleted, ResponseFailed, TimerFired, TimerSet, ToolFinished, ToolStarted, TriesRecovered, TriesSuspended,
  TurnFinished, TurnRequested, TurnRoute,
} from '../messages/index.ts';

/** Configuration of `program-scheduling`, as a caller writes it. */
export interface ProgramSchedulingInput {
  /**
   * Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more.
   *
   * @defaultValue `400000`
   */
  kvCapacityTokens?: number | undefined;
  /**
   * Part of its KV cache that the programs of an engine may fill. A number, 0.05 to 1.
   *
   * @defaultValue `0.95`
   */
  budgetShare?: number | undefined;
  /**
   * No program is held back or paused for longer, in seconds, while there is an engine. A number above 0 and at most
   * 1,000,000.
   *
   * @defaultValue `1800`
   */
  maxPauseSeconds?: number | undefined;
  /**
   * Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more.
   *
   * @defaultValue `10000`
   */
  prefillTokensPerSecond?: number | undefined;
  /**
   * How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines,
   * so that others become free; absent: none is freed. A number, 1 to 100.
   */
  tailSlowdown?: number | undefined;
  /** How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. */
  decode?:
    | {
        /**
         * Seconds of a step, whatever runs. A number, 0 or more.
         *
         * @defaultValue `0.01`
         */
        stepSeconds?: number | undefined;
        /**
         * Seconds that each running turn adds to a step. A number, 0 or more.
         *
         * @defaultValue `0.0002`
         */
        sequenceSeconds?: number | undefined;
        /**
         * Seconds that each token in the contexts of running turns adds to a step. A number, 0 or more.
         *
         * @defaultValue `3e-8`
         */
        contextTokenSeconds?: number | undefined;
      }
    | undefined;
}

/** Configuration of `program-scheduling`, its defaults filled in. */
export interface ProgramSchedulingConfig extends Pick<ProgramSchedulingInput, 'tailSlowdown'> {
  /** Tokens that fit the KV cache of an engine, until it reports its own number. A whole number, 1 or more. */
  kvCapacityTokens: number;
  /** Part of its KV cache that the programs of an engine may fill. A number, 0.05 to 1. */
  budgetShare: number;
  /**
   * No program is held back or paused for longer, in seconds, while there is an engine. A number above 0 and at most
   * 1,000,000.
   */
  maxPauseSeconds: number;
  /** Tokens of a context that an engine reads in a second. The order of magnitude is enough. A number, 1 or more. */
  prefillTokensPerSecond: number;
  /** How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. */
  decode: {
    /** Seconds of a step, whatever runs. A number, 0 or more. */
    stepSeconds: number;
    /** Seconds that each running turn adds to a step. A number, 0 or more. */
    sequenceSeconds: number;
    /** Seconds that each token in the contexts of running turns adds to a step. A number, 0 or more. */
    contextTokenSeconds: number;
  };
}

/** What `program-scheduling` is told. */
export type ProgramSchedulingEvent =
  | EngineAdded | EngineDrained | EngineLost | EngineReported | EnginesChanged | HostRestarted | ProgramClosed
  | ProgramOpened | ResponseCompleted | ResponseFailed | TimerFired | ToolFinished | ToolStarted | TurnFinished
  | TurnRequested;

/** What `program-scheduling` asks of the host. */
export type ProgramSchedulingCommand = KvRetain | ProgramPause | ProgramResume | TimerSet | TurnRoute;

/** What `program-scheduling` lets others know. */
export type ProgramSchedulingNotice =
  | EngineFreed | ProgramAwaited | ProgramEnded | ProgramLate | TriesRecovered | TriesSuspended;

/** What `program-scheduling` answers. */
export type ProgramSchedulingDecision = ProgramSchedulingCommand | ProgramSchedulingNotice;

/** All types of `program-scheduling`, for its definition. */
export interface ProgramSchedulingTypes {
  /** Id of the definition. */
  readonly id: 'program-scheduling';
  /** Configuration, as a caller writes it. */
  readonly input: ProgramSchedulingInput;
  /** Configuration, its defaults filled in. */
  readonly config: ProgramSchedulingConfig;
  /** What it is told. */
  readonly event: ProgramSchedulingEvent;
  /** What it answers. */
  readonly decision: ProgramSchedulingDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: ProgramSchedulingCommand['type'];
}
