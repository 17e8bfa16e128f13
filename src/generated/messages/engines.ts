// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: engines. */
import type { PlacedEngine, Stamped } from './objects.ts';

/**
 * An inference engine takes requests. May be repeated.
 *
 * Event `engine.added`.
 */
export interface EngineAdded extends Stamped<'engine.added'> {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
}

/**
 * An engine finishes what it has and takes nothing new.
 *
 * Event `engine.drained`.
 */
export interface EngineDrained extends Stamped<'engine.drained'> {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
}

/**
 * An engine is gone, with all requests that ran on it: they need no reports of their own.
 *
 * Event `engine.lost`.
 */
export interface EngineLost extends Stamped<'engine.lost'> {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
}

/**
 * How much an engine has to do, as it tells itself, such as in its metrics.
 *
 * Event `engine.reported`.
 */
export interface EngineReported extends Stamped<'engine.reported'> {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** Tokens that fit its KV cache. A whole number, 0 to 1,000,000,000,000. */
  kvCapacityTokens: number;
  /** Tokens of running requests in its KV cache. A whole number, 0 to 1,000,000,000,000. */
  kvUsedTokens: number;
  /** Requests that run. A whole number, 0 or more. */
  running: number;
  /** Requests that wait for their first token. A whole number, 0 or more. */
  waiting: number;
  /** Requests that were preempted since the engine started. A whole number, 0 or more. */
  preemptions: number;
  /** Tokens of no running request that its prefix cache keeps. A whole number, 0 to 1,000,000,000,000. */
  cachedTokens?: number | undefined;
}

/**
 * From now on these engines take requests, and no others: those that are not named finish what they have.
 *
 * Event `engines.changed`.
 */
export interface EnginesChanged extends Stamped<'engines.changed'> {
  /** Every engine that takes requests, each once. Each: at most 512 characters. */
  engineIds: string[];
}

/**
 * From now on these engines roll out, all of them up, on these GPUs; what was said of engines before is replaced.
 *
 * Event `engines.placed`.
 */
export interface EnginesPlaced extends Stamped<'engines.placed'> {
  /** Every engine that rolls out, each once. */
  engines: PlacedEngine[];
}
