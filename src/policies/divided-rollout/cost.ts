/**
 * Room and time that a chunk takes on an engine: room in the KV cache, now and until the responses there are over, and seconds.
 * No number here is a threshold to tune.
 */
import { stepSecondsOf } from '../../core/rollout/engine-settings.ts';
import { aheadOf, contextOf, type DividedState, type Engine, type Request } from './state.ts';

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
