// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: programs. */
import type { Because, Stamped } from './objects.ts';

/**
 * A program is over, however it has ended: it needs no engine any more.
 *
 * Event `program.closed`.
 */
export interface ProgramClosed extends Stamped<'program.closed'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
}

/**
 * A program has begun: the trajectory of one request, in turns. A host without an admission gives it an id of its own.
 *
 * Event `program.opened`.
 */
export interface ProgramOpened extends Stamped<'program.opened'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
  /**
   * Tokens with which every program of this prompt begins; an engine caches them once. A whole number, 0 to
   * 1,000,000,000.
   */
  promptTokens?: number | undefined;
}

/**
 * The tool has answered, and the trajectory may go on.
 *
 * Event `tool.finished`.
 */
export interface ToolFinished extends Stamped<'tool.finished'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /**
   * What the trajectory sees. If the environment itself has failed, so that it cannot go on, `response.failed` says so.
   */
  outcome: 'success' | 'error' | 'timeout';
}

/**
 * A trajectory waits for a tool, or for several at once, and needs no engine meanwhile.
 *
 * Event `tool.started`.
 */
export interface ToolStarted extends Stamped<'tool.started'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Name of the tool; the one that takes longest, of several. 512 characters of it are kept. */
  tool: string;
  /** How long it will take, in seconds, if the host knows. A number, 0 or more. */
  expectedSeconds?: number | undefined;
}

/**
 * A turn of a multi-turn trajectory has been generated.
 *
 * Event `turn.finished`.
 */
export interface TurnFinished extends Stamped<'turn.finished'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the trajectory has generated so far. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /**
   * Tokens of the context that the engine had in its prefix cache, where it tells. A whole number, 0 to 1,000,000,000.
   */
  cachedTokens?: number | undefined;
}

/**
 * A program needs an engine for its next turn. If it asks again before the turn has finished, the turn runs anew.
 *
 * Event `turn.requested`.
 */
export interface TurnRequested extends Stamped<'turn.requested'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the turn begins with: all that the engine has to have read. A whole number, 0 to 1,000,000,000. */
  contextTokens: number;
}

/**
 * The programs that are left need this engine no more, and it runs no turn: a host that sends `engine.drained` may use
 * it for something else. It holds until a `turn.route` names the engine.
 *
 * Notice `engine.freed`.
 */
export interface EngineFreed extends Stamped<'engine.freed'> {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** Why, with the numbers. */
  reason: Because<'packed', {
    /** Programs that are left. A whole number, 0 or more. */
    programs: number;
    /** Engines that go on. A whole number, 0 or more. */
    engines: number;
    /** Tokens of the programs that run on the engine, this one included. A whole number, 0 to 1,000,000,000,000. */
    usedTokens: number;
    /** Tokens that they may have. A whole number, 0 to 1,000,000,000,000. */
    budgetTokens: number;
  }>['reason'];
}

/**
 * Keep the cache of this program on this engine for so long after its tool has started.
 *
 * Command `kv.retain`.
 */
export interface KvRetain extends Stamped<'kv.retain'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** For how long, in seconds; 0: it may be freed at once. */
  seconds: number;
  /** Why, with the numbers. */
  reason: Because<'tool_time', {
    /** Answers of the tool that were seen. A whole number, 0 or more. */
    answers: number;
    /** How long the tool is expected to take, in seconds, if anything is known of it. A number, 0 or more. */
    expectedSeconds?: number | undefined;
  }>['reason'];
}

/**
 * After a restart of the host: this program goes on where its last finished turn has ended, and its next report is
 * awaited.
 *
 * Notice `program.awaited`.
 */
export interface ProgramAwaited extends Stamped<'program.awaited'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'host_restarted', {
    /** Turns that it has finished. A whole number, 0 or more. */
    turns: number;
    /** Tokens of its context. A whole number, 0 to 1,000,000,000,000. */
    contextTokens: number;
    /** The tool that it waits for, if it does. */
    tool?: string | undefined;
  }>['reason'];
}

/**
 * A program was closed: nothing of it is kept.
 *
 * Notice `program.ended`; an event of `watchdog`.
 */
export interface ProgramEnded extends Stamped<'program.ended'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that it has generated, as far as was reported. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Why, with the numbers. */
  reason: Because<'closed', {
    /** Turns that it has finished. A whole number, 0 or more. */
    turns: number;
    /** How often a turn ran on another engine than the one before. A whole number, 0 or more. */
    moves: number;
    /** How long it was paused, in seconds. A number, 0 or more. */
    pausedSeconds: number;
  }>['reason'];
}

/**
 * A report about a program that is over, or about a turn or a tool that is not running: nothing changes.
 *
 * Notice `program.late`; an event of `watchdog`.
 */
export interface ProgramLate extends Stamped<'program.late'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'already_ended' | 'out_of_turn'>['reason'];
}

/**
 * Keep this program from engines until it is resumed; its cache may be freed.
 *
 * Command `program.pause`.
 */
export interface ProgramPause extends Stamped<'program.pause'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'over_budget', {
    /** Id of the inference engine, given by the host. At most 512 characters. */
    engineId: string;
    /** Tokens of the programs that run on the engine, this one included. A whole number, 0 to 1,000,000,000,000. */
    usedTokens: number;
    /** Tokens that they may have. A whole number, 0 to 1,000,000,000,000. */
    budgetTokens: number;
  }>['reason'];
}

/**
 * This program runs again: its next turn is routed when it asks for it, or now if it has asked.
 *
 * Command `program.resume`.
 */
export interface ProgramResume extends Stamped<'program.resume'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'fits', {
        /** Id of the inference engine, given by the host. At most 512 characters. */
        engineId: string;
        /** Tokens of the programs that run on the engine, this one included. A whole number, 0 to 1,000,000,000,000. */
        usedTokens: number;
        /** Tokens that they may have. A whole number, 0 to 1,000,000,000,000. */
        budgetTokens: number;
        /** How long it was paused, in seconds. A number, 0 or more. */
        pausedSeconds: number;
      }>['reason']
    | Because<'paused_longest', {
        /** How long it was paused, in seconds. A number, 0 or more. */
        pausedSeconds: number;
        /** How long a program may be paused, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason'];
}

/**
 * Run the turn of this program on this engine.
 *
 * Command `turn.route`; answered by `turn.finished`, `response.completed`, `response.failed`, `request.aborted`,
 * `program.closed`.
 */
export interface TurnRoute extends Stamped<'turn.route'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'first' | 'cached' | 'engine_lost' | 'host_restarted', {
        /**
         * Expected cost there, in seconds of turns: until it would have finished, and by which it would delay those
         * that run there. A number, 0 or more.
         */
        seconds: number;
        /** Tokens of its context that the engine is believed to have cached. A whole number, 0 to 1,000,000,000,000. */
        cachedTokens: number;
        /** How long the program waited for room, in seconds. A number, 0 or more. */
        waitedSeconds: number;
      }>['reason']
    | Because<'moved', {
        /**
         * Expected cost there, in seconds of turns: until it would have finished, and by which it would delay those
         * that run there. A number, 0 or more.
         */
        seconds: number;
        /** Tokens of its context that the engine is believed to have cached. A whole number, 0 to 1,000,000,000,000. */
        cachedTokens: number;
        /** How long the program waited for room, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /**
         * Expected cost on the engine of its last turn, in seconds; absent if that takes no turns. A number, 0 or more.
         */
        stayingSeconds?: number | undefined;
      }>['reason']
    | Because<'probe', {
        /**
         * Expected cost there, in seconds of turns: until it would have finished, and by which it would delay those
         * that run there. A number, 0 or more.
         */
        seconds: number;
        /** Tokens of its context that the engine is believed to have cached. A whole number, 0 to 1,000,000,000,000. */
        cachedTokens: number;
        /** How long the program waited for room, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Time since the single turn before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason'];
}
