/** What a turn would take on an engine: the rule by which turns are routed. It has no threshold to tune. */
import { addedTokens, type Engine, ownTokens, type Program, type ProgramState } from './state.ts';

/** An estimate for a turn on an engine. */
export interface Estimate {
  readonly engine: Engine;
  /** Seconds until the turn would have finished. */
  readonly seconds: number;
  /** Tokens of its context that the engine is believed to have cached. */
  readonly cachedTokens: number;
}

/** Keys of a program and of its prompt in the caches. */
export const programKey = ({ requestId }: Program): string => `r${requestId}`;
export const promptKey = (promptId: string): string => `p${promptId}`;

/** Tokens that the programs of an engine may fill. */
export function budgetOf({ config }: ProgramState, { capacityTokens }: Engine): number {
  return Math.floor(config.budgetShare * capacityTokens);
}

/**
 * Whether a program has room in the budget of an engine. One without other members has always room, so that a program that alone
 * exceeds every engine runs, too, and so that no engine is idle while something waits.
 */
export function fits(state: ProgramState, one: Program, engine: Engine): boolean {
  if (one.counted && one.engineId === engine.engineId) return true;
  if (engine.members.size === 0) return true;
  return engine.usedTokens + addedTokens(one, engine) <= budgetOf(state, engine);
}

/** Returns the estimate for a program, whose key and whose prompt's key are given, on an engine. */
export function estimate(
  { config, turnTokens }: ProgramState,
  one: Program,
  engine: Engine,
  keys: { readonly own: string; readonly prompt: string | null },
  at: number,
): Estimate {
  const { prefillTokensPerSecond, decode } = config;
  const { contextTokens, promptTokens } = one;
  const own = engine.cache.of(keys.own);
  const isShared = keys.prompt !== null && (own > 0 || engine.cache.of(keys.prompt) > 0);
  const cachedTokens = Math.min(contextTokens, own + (isShared ? promptTokens : 0));
  const queue = Math.max(0, engine.readUntil - at);
  const isMember = one.counted && one.engineId === engine.engineId;
  const others = isMember ? engine.usedTokens : engine.usedTokens + addedTokens(one, engine);
  const overflow = Math.max(0, others - engine.capacityTokens);
  const isRunning = isMember && one.phase === 'running';
  const running = engine.running - (isRunning ? 1 : 0);
  const step =
    decode.stepSeconds +
    decode.sequenceSeconds * (running + 1) +
    decode.contextTokenSeconds * (engine.runningTokens + contextTokens);
  const seconds =
    queue + (contextTokens - cachedTokens + overflow) / prefillTokensPerSecond + Math.max(1, turnTokens) * step;
  return { engine, seconds, cachedTokens };
}

/**
 * Returns the engine on which a turn is expected to finish first, among those with room, or among all; `undefined` if there is none.
 * At equal times the engine of its last turn is first, and then the lowest id.
 */
export function bestEngine(
  state: ProgramState,
  one: Program,
  at: number,
  anyRoom: boolean,
): { best: Estimate; staying: Estimate | undefined } | undefined {
  const keys = { own: programKey(one), prompt: one.promptId === null ? null : promptKey(one.promptId) };
  let best: Estimate | undefined;
  let staying: Estimate | undefined;
  for (const engine of state.engines.values()) {
    const isHome = engine.engineId === one.engineId;
    if (!engine.active) continue;
    const hasRoom = anyRoom || fits(state, one, engine);
    if (!hasRoom && !isHome) continue;
    const found = estimate(state, one, engine, keys, at);
    if (isHome) staying = found;
    if (hasRoom && (best === undefined || isBefore(found, best, one))) best = found;
  }
  return best && { best, staying };
}

function isBefore(one: Estimate, other: Estimate, { engineId }: Program): boolean {
  if (one.seconds !== other.seconds) return one.seconds < other.seconds;
  if (other.engine.engineId === engineId) return false;
  return one.engine.engineId === engineId || one.engine.engineId < other.engine.engineId;
}

/** Moves what the caches of an engine are believed to hold when a turn begins there: its own tokens are in use. */
export function beginReading(state: ProgramState, one: Program, { engine, cachedTokens }: Estimate, at: number): void {
  const uncached = one.contextTokens - cachedTokens;
  engine.readUntil = Math.max(at, engine.readUntil) + uncached / state.config.prefillTokensPerSecond;
  one.believedTokens = cachedTokens;
  one.believedUse = engine.cache.take(programKey(one));
  if (one.promptId !== null) engine.cache.put(promptKey(one.promptId), one.promptTokens, state.seq++);
  trim(engine);
}

/** Keeps the tokens of a turn that is over in the cache, as those that were used last. */
export function keepRead(state: ProgramState, one: Program, engine: Engine): void {
  engine.cache.put(programKey(one), ownTokens(one), state.seq++);
  trim(engine);
}

/** Evicts what does not fit beside the contexts of running turns. */
export function trim(engine: Engine): void {
  engine.cache.shrink(Math.max(0, engine.capacityTokens - engine.runningTokens));
}
