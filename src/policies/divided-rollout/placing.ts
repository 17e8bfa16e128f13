/**
 * Decides which requests get the room on engines. A response continues where it is while it has room, and the youngest makes room
 * for the others; a waiting response begins where there is room to stay. Probes come first, then the longest responses.
 */
import type { Message } from '../../schemas/messages.ts';
import { chunkTokensOf, costOf, freeOf, hasRoomToStay, makesRoom } from './cost.ts';
import type { Ctx } from './messages.ts';
import {
  aheadOf,
  type DividedState,
  type Engine,
  enterLine,
  leaveLine,
  occupy,
  type Request,
  vacate,
} from './state.ts';

type Reason = Message<'chunk.continue'>['reason'];

/** An engine with room for a chunk. */
interface Candidate {
  readonly engine: Engine;
  readonly tokens: number;
  readonly seconds: number;
}

/** Starts waiting requests as long as there is room. */
export function settle(state: DividedState, ctx: Ctx): void {
  while (letNextIn(state, ctx));
}

function letNextIn(state: DividedState, ctx: Ctx): boolean {
  const oldest = state.waits.peek()?.request;
  if (oldest === undefined || ctx.at - oldest.since < state.config.maxWaitSeconds) state.nextOn = null;
  else {
    if (start(state, oldest, true, ctx)) return true;
    state.nextOn ??= roomiest(state);
  }
  const probe = state.probes.peek();
  if (probe !== undefined) return start(state, probe, false, ctx);
  const begun = state.begun.peek();
  const fresh = state.fresh.peek();
  const isBegunFirst = begun !== undefined && (fresh === undefined || aheadOf(begun) >= aheadOf(fresh));
  const small = state.small.peek()?.request;
  // A short response may fill the room that the longest leaves.
  for (const one of isBegunFirst ? [begun, fresh, small] : [fresh, begun, small])
    if (one !== undefined && start(state, one, false, ctx)) return true;
  return false;
}

/** Returns the active engine with the most free tokens, which is likely to have room first. */
function roomiest(state: DividedState): string | null {
  let best: Engine | undefined;
  for (const engine of state.engines.values()) {
    if (!engine.active) continue;
    const more = best === undefined ? 1 : freeOf(state, engine) - freeOf(state, best);
    if (more > 0 || (more === 0 && engine.engineId < best!.engineId)) best = engine;
  }
  return best?.engineId ?? null;
}

/**
 * Returns the engine with room on which a request costs least; `undefined` if none has room. Ties go to the engine of the last
 * chunk, then to the lowest id.
 *
 * @param home - engine that has its context
 * @param isNext - whether the request has waited too long, so that room for its next chunk suffices
 */
function bestEngine(
  state: DividedState,
  one: Request,
  home: Engine | undefined,
  isNext: boolean,
): { best: Candidate | undefined; staying: Candidate | undefined } {
  let best: Candidate | undefined;
  let staying: Candidate | undefined;
  for (const engine of state.engines.values()) {
    const isHome = engine === home;
    if (!engine.active || (engine.engineId === state.nextOn && !isNext)) continue;
    if (!isHome && !isNext && !hasRoomToStay(state, one, engine)) continue;
    if (isHome && makesRoom(state, one, engine)) continue;
    const tokens = chunkTokensOf(state, one, engine);
    if (tokens === 0) continue;
    const candidate = { engine, tokens, seconds: costOf(state, one, engine, isHome) };
    if (isHome) staying = candidate;
    if (best !== undefined) {
      if (candidate.seconds > best.seconds) continue;
      const isFirst = isHome || (best !== staying && engine.engineId < best.engine.engineId);
      if (candidate.seconds === best.seconds && !isFirst) continue;
    }
    best = candidate;
  }
  return { best, staying };
}

/** Gives a waiting request its chunk if there is room; returns whether there was room. */
function start(state: DividedState, one: Request, isNext: boolean, ctx: Ctx): boolean {
  const { best } = bestEngine(state, one, undefined, isNext);
  if (best === undefined) return false;
  const { cause, chunks, probe, since } = one;
  const waitedSeconds = ctx.at - since;
  leaveLine(state, one);
  one.waitedSeconds += waitedSeconds;
  const numbers = { ...numbersOf(state, one, best), waitedSeconds };
  let reason: Reason;
  if (isNext) {
    reason = { code: 'overdue', ...numbers, limitSeconds: state.config.maxWaitSeconds };
    state.nextOn = null;
  } else if (cause !== null) reason = { code: cause, ...numbers };
  else if (chunks > 0) reason = { code: 'resumed', ...numbers };
  else reason = { code: probe ? 'probe' : 'first', ...numbers };
  run(one, best, reason, ctx);
  return true;
}

/** Continues a response whose chunk has ended, or holds it back. */
export function goOn(state: DividedState, one: Request, home: Engine | undefined, ctx: Ctx): void {
  const { best, staying } = bestEngine(state, one, home?.active === true ? home : undefined, false);
  if (best === undefined) return wait(state, one, ctx.at);
  const numbers = numbersOf(state, one, best);
  const stayingSeconds = staying === undefined ? undefined : { stayingSeconds: staying.seconds };
  const reason: Reason =
    best === staying ? { code: 'stays', ...numbers } : { code: 'moved', ...numbers, ...stayingSeconds };
  run(one, best, reason, ctx);
}

const numbersOf = (state: DividedState, { expectedTokens }: Request, { engine, seconds }: Candidate) => ({
  freeTokens: freeOf(state, engine),
  expectedTokens,
  seconds,
});

function run(one: Request, { engine, tokens }: Candidate, reason: Reason, ctx: Ctx): void {
  const { engineId } = engine;
  if (one.engineId !== null && one.engineId !== engineId) one.moves += 1;
  one.phase = 'running';
  one.since = ctx.at;
  one.cause = null;
  one.probe = false;
  one.chunks += 1;
  one.engineId = engineId;
  one.chunkTokens = tokens;
  occupy(one, engine);
  const { requestId, tokens: fromTokens } = one;
  ctx.emit({ type: 'chunk.continue', at: ctx.at, requestId, engineId, fromTokens, tokens, reason });
}

/** Holds a request back until there is room. */
export function wait(state: DividedState, one: Request, at: number): void {
  one.phase = 'waiting';
  one.since = at;
  one.line = state.seq++;
  enterLine(state, one);
}

/** Gives up the chunk of a request, which then waits for another chunk. */
export function giveUp(state: DividedState, one: Request, cause: NonNullable<Request['cause']>, at: number): void {
  vacate(state, one);
  one.cause = cause;
  wait(state, one, at);
}
