/**
 * The cost of a turn on an engine, which decides the routing of turns. There is no threshold to tune. The cost is in seconds:
 * those of the turn itself, and the delay of the turns that run there.
 */
import { stepSecondsOf } from '../../core/rollout/engine-settings.ts';
import { type Rates, ratesOf } from './pace.ts';
import { addedTokens, type Engine, isOpen, ownTokens, type Program, type ProgramState } from './state.ts';

/** The engine for a turn. */
export interface Estimate {
  readonly engine: Engine;
  /** Seconds until the turn would have finished, plus the delay for all other turns on the engine. */
  readonly seconds: number;
  /** The same for the engine of the last turn; `undefined` if that engine takes no turns. */
  readonly stayingSeconds: number | undefined;
}

/** Tokens that the programs of an engine may fill. */
export function budgetOf({ config }: ProgramState, { capacityTokens }: Engine): number {
  return Math.floor(config.budgetShare * capacityTokens);
}

/** Part of a turn by which every program may grow, before what was let in has to pause: on average a turn is half over. */
const turnsAhead = 0.5;

/** Tokens of the programs on an engine; the common beginning of all programs counts once. */
export function heldTokens({ pace }: ProgramState, { usedTokens, prompts }: Engine): number {
  return Math.max(0, usedTokens - Math.max(0, prompts.size - 1) * Math.floor(pace.commonTokens));
}

/** Additional tokens on the engine if a program is let in. */
export function newTokens({ pace }: ProgramState, one: Program, engine: Engine): number {
  const tokens = addedTokens(one, engine);
  const isKnown = one.promptId === null || engine.prompts.size === 0 || engine.prompts.has(one.promptId);
  return isKnown ? tokens : Math.max(0, tokens - Math.floor(pace.commonTokens));
}

/**
 * Tokens that a program may add to an engine when it is let in. An engine without members always has room, so that a program that
 * exceeds every engine runs, too, and no engine is idle while something waits.
 */
function roomOf(state: ProgramState, engine: Engine): number {
  const { size } = engine.members;
  if (size === 0) return Number.POSITIVE_INFINITY;
  return budgetOf(state, engine) - heldTokens(state, engine) - turnsAhead * size * state.pace.growthTokens;
}

/** Whether a program has room on an engine, as a member or as a newcomer. */
export function hasRoom(state: ProgramState, one: Program, engine: Engine): boolean {
  return (one.counted && one.engineId === engine.engineId) || newTokens(state, one, engine) <= roomOf(state, engine);
}

/** Tokens that an engine has still to read. */
function unreadOf({ unreadTokens, unreadAt }: Engine, readSeconds: number, at: number): number {
  return Math.max(0, unreadTokens - (at - unreadAt) / readSeconds);
}

/** Context tokens of a program that an engine is believed to have in its cache. */
function cachedOf({ promptId, promptTokens, contextTokens, ownKey, promptKey }: Program, { cache }: Engine): number {
  const own = cache.of(ownKey);
  const isShared = promptId !== null && (own > 0 || cache.of(promptKey) > 0);
  return Math.min(contextTokens, isShared ? own + promptTokens : own);
}

/** Seconds of a step that includes the turn, as configured. */
function secondsWith({ config }: ProgramState, { contextTokens }: Program, engine: Engine): number {
  return stepSecondsOf(config.decode, engine.running + 1, engine.runningTokens + contextTokens);
}

function costOf(state: ProgramState, one: Program, engine: Engine, rates: Rates, at: number): number {
  const { sequenceSeconds, contextTokenSeconds } = state.config.decode;
  const { contextTokens } = one;
  const { running } = engine;
  const isMember = one.counted && one.engineId === engine.engineId;
  // Tokens that do not fit are evicted, and have to be read again.
  const overflow = heldTokens(state, engine) + (isMember ? 0 : newTokens(state, one, engine)) - engine.capacityTokens;
  // A prompt that is new on the engine takes room from others, which will be read again.
  const newPrompt = one.promptId === null || engine.prompts.has(one.promptId) ? 0 : one.promptTokens;
  const toRead = contextTokens - cachedOf(one, engine) + Math.max(0, overflow) + newPrompt;
  // Every running turn's step gets longer, by this turn's sequence and context, and by the tokens read.
  const slower = running * (sequenceSeconds + contextTokenSeconds * contextTokens);
  const { readSeconds, decodeFactor } = rates;
  return (
    (unreadOf(engine, readSeconds, at) + toRead * (1 + running)) * readSeconds +
    Math.max(1, state.pace.turnTokens) * decodeFactor * (secondsWith(state, one, engine) + slower)
  );
}

/**
 * Returns the engine on which a turn costs least, among engines with room or among all; `undefined` if there is none. Ties go to
 * the engine of the last turn, then to the lowest id.
 */
export function bestEngine(state: ProgramState, one: Program, at: number, anyRoom: boolean): Estimate | undefined {
  const rates = ratesOf(state.pace, state.config);
  let best: Engine | undefined;
  let least = Number.POSITIVE_INFINITY;
  let stayingSeconds: number | undefined;
  for (const engine of state.engines.values()) {
    if (!isOpen(state, engine)) continue;
    const isHome = engine.engineId === one.engineId;
    const canTake = anyRoom || hasRoom(state, one, engine);
    if (!canTake && !isHome) continue;
    const seconds = costOf(state, one, engine, rates, at);
    if (isHome) stayingSeconds = seconds;
    if (!canTake || seconds > least) continue;
    if (seconds === least && !isHome && (best!.engineId === one.engineId || best!.engineId < engine.engineId)) continue;
    best = engine;
    least = seconds;
  }
  return best && { engine: best, seconds: least, stayingSeconds };
}

/** Returns the cost of a turn on a given engine. */
export function estimateOn(state: ProgramState, one: Program, engine: Engine, at: number): Estimate {
  return {
    engine,
    seconds: costOf(state, one, engine, ratesOf(state.pace, state.config), at),
    stayingSeconds: undefined,
  };
}

/**
 * Gives an engine the context of a turn to read; the cached part of the context is in use from now on.
 *
 * @returns tokens that were believed to be cached
 */
export function beginReading(state: ProgramState, one: Program, engine: Engine, at: number): number {
  const cachedTokens = cachedOf(one, engine);
  const uncached = one.contextTokens - cachedTokens;
  engine.unreadTokens = unreadOf(engine, ratesOf(state.pace, state.config).readSeconds, at) + uncached;
  engine.unreadAt = at;
  engine.givenTokens += uncached;
  one.belief = {
    cachedTokens,
    used: engine.cache.take(one.ownKey),
    readTokens: engine.unreadTokens,
    givenTokens: engine.givenTokens,
    stepSeconds: secondsWith(state, one, engine),
  };
  if (one.promptId !== null) engine.cache.put(one.promptKey, one.promptTokens, state.seq++);
  return cachedTokens;
}

/** Keeps the tokens of an ended turn in the cache as the most recently used ones; the engine has read what it had to read. */
export function endReading(state: ProgramState, one: Program, engine: Engine, at: number): void {
  const left = unreadOf(engine, ratesOf(state.pace, state.config).readSeconds, at);
  engine.unreadTokens = Math.max(0, Math.min(left, engine.givenTokens - one.belief.givenTokens));
  engine.unreadAt = at;
  engine.cache.put(one.ownKey, ownTokens(one), state.seq++);
  trim(engine);
}

/** Evicts what does not fit beside the contexts of running turns. */
export function trim(engine: Engine): void {
  engine.cache.shrink(Math.max(0, engine.capacityTokens - engine.runningTokens));
}

/**
 * Seconds for which a program's cache is worth its room: reading the context again takes the engine as long as the room, as a
 * share of the whole, is worth in this time. The size of the context cancels out.
 */
export function worthSeconds(state: ProgramState, { capacityTokens }: Engine): number {
  return capacityTokens * ratesOf(state.pace, state.config).readSeconds;
}
