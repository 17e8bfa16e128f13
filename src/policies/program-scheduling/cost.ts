/**
 * What turns cost on engines, in seconds, and the tokens that programs fill there: by these, turns are routed, and engines become free at
 * the end of a rollout. There is no threshold to tune.
 */
import { stepSecondsOf } from '../../core/rollout/engine-settings.ts';
import {
  type Ctx,
  type Engine,
  isOpen,
  joinGroup,
  keysOf,
  ownTokens,
  type Program,
  type ProgramState,
  type Rates,
  ratesOf,
} from './state.ts';

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

export function link(state: ProgramState): void {
  for (const one of state.programs.values()) {
    one.due = { heapIndex: -1, at: 0, program: one };
    Object.assign(one, keysOf(one));
    joinGroup(state, one);
    if (one.counted) countIn(state, one, state.engines.get(one.engineId!)!);
    if (one.leaving) leaveLater(state, one);
    if (one.waitsSince !== null) enterLine(state, one);
  }
}

/** Growth of an engine's used tokens if a program is added. */
export function addedTokens(one: Program, { prompts }: Engine): number {
  const shares = one.promptId !== null && prompts.has(one.promptId);
  return shares ? ownTokens(one) : Math.max(one.contextTokens, one.promptTokens);
}

/** Counts a program in the budget of an engine. */
export function countIn(state: ProgramState, one: Program, engine: Engine): void {
  engine.usedTokens += addedTokens(one, engine);
  engine.members.add(one);
  if (one.promptId !== null) {
    const prompt = engine.prompts.get(one.promptId);
    if (prompt === undefined) engine.prompts.set(one.promptId, { members: 1, tokens: one.promptTokens });
    else prompt.members += 1;
  }
  one.engineId = engine.engineId;
  one.counted = true;
  place(state, one, engine);
}

/** Puts a member into the collection for its phase. */
function place(state: ProgramState, one: Program, engine: Engine): void {
  if (one.phase === 'running') {
    engine.running += 1;
    engine.runningTokens += ownTokens(one);
    engine.busy.update(one);
  } else {
    engine.resting.update(one);
    one.due.at = one.keptUntil;
    state.keepsEnd.update(one.due);
  }
}

function unplace(state: ProgramState, one: Program, engine: Engine): void {
  if (one.phase === 'running') {
    engine.running -= 1;
    engine.runningTokens -= ownTokens(one);
    if (one.leaving) {
      engine.leaving -= 1;
      engine.leavingTokens -= ownTokens(one);
      one.leaving = false;
    } else engine.busy.remove(one);
  } else {
    engine.resting.remove(one);
    state.keepsEnd.remove(one.due);
  }
}

/** Takes a program out of the budget of its engine. */
export function countOut(state: ProgramState, one: Program): Engine {
  const engine = state.engines.get(one.engineId!)!;
  unplace(state, one, engine);
  engine.members.delete(one);
  if (one.promptId !== null) {
    const prompt = engine.prompts.get(one.promptId)!;
    prompt.members -= 1;
    if (prompt.members === 0) engine.prompts.delete(one.promptId);
  }
  engine.usedTokens -= addedTokens(one, engine);
  one.counted = false;
  return engine;
}

/** Lets a running member leave the budget after its turn. */
export function leaveLater(state: ProgramState, one: Program): void {
  const engine = state.engines.get(one.engineId!)!;
  engine.busy.remove(one);
  engine.leaving += 1;
  engine.leavingTokens += ownTokens(one);
  one.leaving = true;
}

type Line = 'ready' | 'fresh' | 'paused';
function lineOf({ phase, routes }: Program): Line {
  if (phase === 'asked') return routes === 0 ? 'fresh' : 'ready';
  return phase === 'answered' ? 'ready' : 'paused';
}

/** Adds a program to the line for room. */
export function enterLine(state: ProgramState, one: Program): void {
  state[lineOf(one)].update(one);
  if (one.phase === 'asked') state.asked += 1;
  one.due.at = one.waitsSince! + state.config.maxPauseSeconds;
  state.waitsEnd.update(one.due);
}

/** Takes a program out of its line. */
export function leaveLine(state: ProgramState, one: Program): void {
  state[lineOf(one)].remove(one);
  if (one.phase === 'asked') state.asked -= 1;
  state.waitsEnd.remove(one.due);
}

/** Changes a program; sums, heaps and lines follow. */
export function change(state: ProgramState, one: Program, apply: (one: Program) => void): void {
  if (one.counted) {
    const engine = countOut(state, one);
    apply(one);
    countIn(state, one, engine);
  } else if (one.waitsSince !== null) {
    leaveLine(state, one);
    apply(one);
    enterLine(state, one);
  } else apply(one);
}

/** Before an engine is freed, contexts are assumed to grow by this factor: what has run for long has on average as long to go. */
const ahead = 2;

interface Engines {
  readonly open: readonly Engine[];
  /** Engines that get no turns, so that they become free. */
  readonly spare: readonly Engine[];
  /** Mean tokens of the contexts that count. */
  readonly contextTokens: number;
}

function enginesOf(state: ProgramState): Engines {
  const open: Engine[] = [];
  const spare: Engine[] = [];
  let members = 0;
  let held = 0;
  for (const engine of state.engines.values()) {
    members += engine.members.size;
    held += heldTokens(state, engine);
    if (isOpen(state, engine)) open.push(engine);
    else if (engine.status === 'emptying' || engine.status === 'free') spare.push(engine);
  }
  return { open, spare, contextTokens: members === 0 ? 0 : held / members };
}

/** Seconds of one among so many parallel turns: the time of its steps, and of the reading for all of them. */
function turnSeconds({ pace, config }: ProgramState, turns: number, contextTokens: number): number {
  const { stepSeconds, sequenceSeconds, contextTokenSeconds } = config.decode;
  const { readSeconds, decodeFactor } = ratesOf(pace, config);
  const step = stepSeconds + turns * (sequenceSeconds + contextTokenSeconds * contextTokens);
  const readTokens = Math.max(0, pace.growthTokens - pace.turnTokens);
  return turns * readTokens * readSeconds + Math.max(1, pace.turnTokens) * decodeFactor * step;
}

/** Whether turns take longer than allowed if all programs run at once, spread evenly over so many engines. */
function areSlow(state: ProgramState, engines: number, contextTokens: number): boolean {
  const turns = Math.max(1, state.programs.size / engines);
  const alone = turnSeconds(state, 1, contextTokens);
  return turnSeconds(state, turns, contextTokens) > state.config.tailSlowdown! * alone;
}

/** Frees engines, emptiest first, as long as all programs have room on the others and are fast enough there. */
export function pack(state: ProgramState): void {
  if (state.config.tailSlowdown === undefined) return;
  // With one more engine, waiting programs would be let in sooner.
  while (state.waitsEnd.size === 0) {
    const { open, contextTokens } = enginesOf(state);
    if (open.length < 2 || areSlow(state, open.length - 1, ahead * contextTokens)) return;
    const emptiest = open.reduce((least, one) => (heldTokens(state, one) < heldTokens(state, least) ? one : least));
    const budget = open.reduce((sum, one) => sum + (one === emptiest ? 0 : budgetOf(state, one)), 0);
    if (state.programs.size * ahead * contextTokens > budget) return;
    emptiest.status = 'emptying';
    leaveEngine(state, emptiest);
  }
}

/** Removes the programs of an engine from its budget; programs with a running turn leave after the turn. */
export function leaveEngine(state: ProgramState, engine: Engine): void {
  for (const one of [...engine.members]) if (one.phase !== 'running') countOut(state, one);
}

/** Gives engines turns again while no other engine takes any, or while turns are too slow. */
export function unpack(state: ProgramState): void {
  if (state.config.tailSlowdown === undefined) return;
  for (let all = enginesOf(state); all.spare.length > 0; all = enginesOf(state)) {
    // Without any engine, turns take for ever.
    if (!areSlow(state, all.open.length, all.contextTokens)) return;
    reopen(state);
  }
}

/** Gives an engine turns again, preferably one that still runs some; returns whether there was such an engine. */
export function reopen(state: ProgramState): boolean {
  const { spare } = enginesOf(state);
  const engine = spare.find(({ status }) => status === 'emptying') ?? spare[0];
  if (engine === undefined) return false;
  engine.status = 'open';
  return true;
}

/** Names the engines that have become free. */
export function nameFreed(state: ProgramState, ctx: Ctx): void {
  if (state.config.tailSlowdown === undefined) return;
  for (const engine of state.engines.values()) {
    if (engine.status !== 'emptying' || engine.members.size > 0) continue;
    engine.status = 'free';
    const { open } = enginesOf(state);
    const sumOf = (tokens: (state: ProgramState, one: Engine) => number): number =>
      open.reduce((sum, one) => sum + tokens(state, one), 0);
    const [usedTokens, budgetTokens] = [sumOf(heldTokens), sumOf(budgetOf)];
    const { size: programs } = state.programs;
    const reason = { code: 'packed', programs, engines: open.length, usedTokens, budgetTokens } as const;
    ctx.emit({ type: 'engine.freed', at: ctx.at, engineId: engine.engineId, reason });
  }
}
