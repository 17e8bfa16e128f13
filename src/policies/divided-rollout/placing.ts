/**
 * Decides which requests get the room on engines. A response continues where it is while it has room, and the youngest makes room
 * for the others; a waiting response begins where there is room to stay. Probes come first, then the longest responses.
 */
import { stepSecondsOf } from '../../core/rollout/engine-settings.ts';
import type { Message } from '../../schemas/messages.ts';
import {
  aheadOf,
  type Ctx,
  contextOf,
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

/** Fewest tokens of a chunk, unless the response may have fewer. */
const leastTokens = 64;

/** Tokens that the chunks of an engine may fill. */
export const budgetOf = ({ config }: DividedState, { capacityTokens }: Engine): number =>
  Math.floor(config.budgetShare * capacityTokens);

/** Tokens of the KV cache that no chunk holds. */
export const freeOf = (state: DividedState, engine: Engine): number =>
  Math.max(0, budgetOf(state, engine) - engine.heldTokens);

/** Seconds of a step that includes the request, as configured. */
function secondsWith({ config }: DividedState, one: Request, { running, contextTokens }: Engine): number {
  return stepSecondsOf(config.decode, running.size + 1, contextTokens + contextOf(one));
}

/**
 * Returns how long a chunk should be while others wait for room. A chunk of g tokens costs `chunkSeconds` for every g tokens, and
 * on average keeps g / 2 tokens of room unused, which is g / (2 · context) of its share of the engine. The sum of both costs is
 * least where they are equal.
 */
function usualTokens(state: DividedState, one: Request, engine: Engine): number {
  const { chunkSeconds } = state.config;
  const stepSeconds = Math.max(1e-6, secondsWith(state, one, engine));
  return mostOf(one, Math.ceil(Math.sqrt((2 * chunkSeconds * contextOf(one)) / stepSeconds)));
}

/** Bounds a chunk by the tokens that the response may still generate. */
function mostOf({ maxTokens, tokens }: Request, wanted: number): number {
  const least = Math.max(leastTokens, wanted);
  return maxTokens === null ? least : Math.max(1, Math.min(least, maxTokens - tokens));
}

/**
 * Returns the tokens of a request's next chunk on an engine; 0 if the chunk does not fit. A request that is alone on the engine
 * always fits. While nothing waits, a response doubles with each chunk, as far as all requests on the engine have room.
 */
export function chunkTokensOf(state: DividedState, one: Request, engine: Engine): number {
  const usual = usualTokens(state, one, engine);
  const room = freeOf(state, engine) - contextOf(one);
  if (engine.running.size === 0) return Math.min(usual, Math.max(room, mostOf(one, 0)));
  if (room < usual / 2) return 0;
  if (state.waits.size > Number(one.phase === 'waiting')) return Math.min(usual, room);
  const share = Math.floor(room / (engine.running.size + 1));
  return Math.min(room, Math.max(usual, mostOf(one, Math.min(share, one.tokens))));
}

/**
 * Returns the room, in tokens, that the requests on an engine need to grow while a response stays there long enough to be worth
 * reading its context. Reading c tokens takes an engine c / P seconds, and the room of c out of K tokens is worth c / K of the
 * engine's time. So the response has to stay for K / P seconds.
 */
function growthOf(state: DividedState, one: Request, engine: Engine): number {
  const { prefillTokensPerSecond, poolTokensPerSecond = 0 } = state.config;
  const staySeconds = engine.capacityTokens / Math.max(prefillTokensPerSecond, poolTokensPerSecond);
  return (engine.running.size * staySeconds) / Math.max(1e-6, secondsWith(state, one, engine));
}

/** Whether a response may begin on an engine without its context, and can stay there long enough to be worth the reading. */
export function hasRoomToStay(state: DividedState, one: Request, engine: Engine): boolean {
  if (engine.running.size === 0) return true;
  return contextOf(one) + growthOf(state, one, engine) <= freeOf(state, engine);
}

/** Whether a response has to make room for others on its engine that are ahead of it; the youngest makes room first. */
export function makesRoom(state: DividedState, one: Request, engine: Engine): boolean {
  const youngest = engine.young.peek();
  if (youngest === undefined || contextOf(youngest) < contextOf(one)) return false;
  return contextOf(one) + growthOf(state, one, engine) / 2 > freeOf(state, engine);
}

/** Seconds that a request needs on an engine until its end, plus the delay that it causes there. */
export function costOf(state: DividedState, one: Request, engine: Engine, hasContext: boolean): number {
  const { config } = state;
  const running = engine.running.size;
  const context = contextOf(one);
  const { sequenceSeconds, contextTokenSeconds } = config.decode;
  const slower = running * (sequenceSeconds + contextTokenSeconds * context);
  const decoding = Math.max(1, aheadOf(one)) * (secondsWith(state, one, engine) + slower);
  if (hasContext) return decoding;
  const reading = (context / config.prefillTokensPerSecond) * (1 + running);
  const { poolTokensPerSecond } = config;
  const isNew = one.tokens === 0 || poolTokensPerSecond === undefined;
  // Loading a context delays no other request.
  return decoding + (isNew ? reading : Math.min(reading, context / poolTokensPerSecond));
}
