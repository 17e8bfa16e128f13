/**
 * What a turn would cost on an engine: the rule by which turns are routed. It has no threshold to tune. All of it is seconds of
 * turns: those of the turn itself, and those by which it delays the turns that run there.
 */
import { type Rates, ratesOf } from './pace.ts';
import { addedTokens, type Engine, ownTokens, type Program, type ProgramState } from './state.ts';

/** An estimate for a turn on an engine. */
export interface Estimate {
  readonly engine: Engine;
  /** Seconds until the turn would have finished, and by which it would delay all others there. */
  readonly seconds: number;
  /** Tokens of its context that the engine is believed to have cached. */
  readonly cachedTokens: number;
  /** Tokens that the engine has to read before those of the turn. */
  readonly unreadTokens: number;
  /** Seconds of a step, as configured. */
  readonly stepSeconds: number;
}

/** Keys of a program and of its prompt in the caches. */
export const programKey = ({ requestId }: Program): string => `r${requestId}`;
const promptKey = (promptId: string): string => `p${promptId}`;

/** Tokens that the programs of an engine may fill. */
export function budgetOf({ config }: ProgramState, { capacityTokens }: Engine): number {
  return Math.floor(config.budgetShare * capacityTokens);
}

/** Part of a turn by which every program may grow, before what was let in has to pause: on average a turn is half over. */
const turnsAhead = 0.5;

/**
 * Tokens that a program may add to an engine when it is let in. One without members has always room, so that a program that alone
 * exceeds every engine runs, too, and so that no engine is idle while something waits.
 */
export function roomOf(state: ProgramState, engine: Engine): number {
  const { size } = engine.members;
  if (size === 0) return Number.POSITIVE_INFINITY;
  return budgetOf(state, engine) - engine.usedTokens - turnsAhead * size * state.pace.growthTokens;
}

/** Whether a program has room on an engine: it is a member already, or may be let in. */
export function hasRoom(state: ProgramState, one: Program, engine: Engine): boolean {
  return (one.counted && one.engineId === engine.engineId) || addedTokens(one, engine) <= roomOf(state, engine);
}

/** Tokens that an engine has still to read. */
function unreadOf({ unreadTokens, unreadAt }: Engine, { readSeconds }: Rates, at: number): number {
  return Math.max(0, unreadTokens - (at - unreadAt) / readSeconds);
}

interface Question {
  readonly state: ProgramState;
  readonly one: Program;
  readonly at: number;
  readonly rates: Rates;
  /** Keys of the program and of its prompt in the caches. */
  readonly ownKey: string;
  readonly promptKey: string | null;
}

function estimate({ state, one, at, rates, ownKey, promptKey }: Question, engine: Engine): Estimate {
  const { decode } = state.config;
  const { contextTokens, promptTokens } = one;
  const own = engine.cache.of(ownKey);
  const isShared = promptKey !== null && (own > 0 || engine.cache.of(promptKey) > 0);
  const cachedTokens = Math.min(contextTokens, own + (isShared ? promptTokens : 0));
  const unreadTokens = unreadOf(engine, rates, at);
  const isMember = one.counted && one.engineId === engine.engineId;
  // What does not fit is evicted, and has to be read again.
  const overflow = engine.usedTokens + (isMember ? 0 : addedTokens(one, engine)) - engine.capacityTokens;
  const { running, runningTokens } = engine;
  const stepSeconds =
    decode.stepSeconds +
    decode.sequenceSeconds * (running + 1) +
    decode.contextTokenSeconds * (runningTokens + contextTokens);
  // A step gets longer for every turn that runs: by this turn's sequence and context, and by what is read in it.
  const slower = running * (decode.sequenceSeconds + decode.contextTokenSeconds * contextTokens);
  const reading = (contextTokens - cachedTokens + Math.max(0, overflow)) * rates.readSeconds;
  const seconds =
    unreadTokens * rates.readSeconds +
    reading * (1 + running) +
    Math.max(1, state.pace.turnTokens) * rates.decodeFactor * (stepSeconds + slower);
  return { engine, seconds, cachedTokens, unreadTokens, stepSeconds };
}

/**
 * Returns the engine on which a turn costs least, among those with room, or among all; `undefined` if there is none. At equal costs
 * the engine of its last turn is first, and then the lowest id.
 */
export function bestEngine(
  state: ProgramState,
  one: Program,
  at: number,
  anyRoom: boolean,
): { best: Estimate; staying: Estimate | undefined } | undefined {
  const { promptId } = one;
  const keys = { ownKey: programKey(one), promptKey: promptId === null ? null : promptKey(promptId) };
  const question = { state, one, at, rates: ratesOf(state.pace, state.config), ...keys };
  let best: Estimate | undefined;
  let staying: Estimate | undefined;
  for (const engine of state.engines.values()) {
    if (!engine.active) continue;
    const isHome = engine.engineId === one.engineId;
    const canTake = anyRoom || hasRoom(state, one, engine);
    if (!canTake && !isHome) continue;
    const found = estimate(question, engine);
    if (isHome) staying = found;
    if (canTake && (best === undefined || isBefore(found, best, one))) best = found;
  }
  return best && { best, staying };
}

function isBefore(one: Estimate, other: Estimate, { engineId }: Program): boolean {
  if (one.seconds !== other.seconds) return one.seconds < other.seconds;
  if (other.engine.engineId === engineId) return false;
  return one.engine.engineId === engineId || one.engine.engineId < other.engine.engineId;
}

/** Gives an engine the context of a turn to read; what it has cached of it is in use now. */
export function beginReading(state: ProgramState, one: Program, found: Estimate, at: number): void {
  const { engine, cachedTokens, unreadTokens, stepSeconds } = found;
  const uncached = one.contextTokens - cachedTokens;
  engine.givenTokens += uncached;
  engine.unreadTokens = unreadTokens + uncached;
  engine.unreadAt = at;
  const used = engine.cache.take(programKey(one));
  const readTokens = engine.unreadTokens;
  one.belief = { cachedTokens, used, readTokens, givenTokens: engine.givenTokens, stepSeconds };
  if (one.promptId !== null) engine.cache.put(promptKey(one.promptId), one.promptTokens, state.seq++);
  trim(engine);
}

/** Keeps the tokens of a turn that is over in the cache, as those that were used last; what it had to read has been read. */
export function endReading(state: ProgramState, one: Program, engine: Engine, at: number): void {
  const left = unreadOf(engine, ratesOf(state.pace, state.config), at);
  engine.unreadTokens = Math.max(0, Math.min(left, engine.givenTokens - one.belief.givenTokens));
  engine.unreadAt = at;
  engine.cache.put(programKey(one), ownTokens(one), state.seq++);
  trim(engine);
}

/** Evicts what does not fit beside the contexts of running turns. */
export function trim(engine: Engine): void {
  engine.cache.shrink(Math.max(0, engine.capacityTokens - engine.runningTokens));
}

/**
 * How long the cache of a program is worth its room, in seconds: reading its context again takes the engine as long as the room, as a
 * part of the whole, is worth in this time. The size of the context does not matter.
 */
export function worthSeconds(state: ProgramState, { capacityTokens }: Engine): number {
  return capacityTokens * ratesOf(state.pace, state.config).readSeconds;
}
