/**
 * What a chunk needs and costs on an engine: room in its KV cache, now and until the responses there are over, and seconds. None of
 * it is a threshold to tune.
 */
import { aheadOf, contextOf, type DividedState, type Engine, type Request } from './state.ts';

/** Fewest tokens of a chunk, unless the response may have fewer. */
const leastTokens = 64;

/** Tokens that the chunks of an engine may fill. */
export const budgetOf = ({ config }: DividedState, { capacityTokens }: Engine): number =>
  Math.floor(config.budgetShare * capacityTokens);

/** Tokens of it that no chunk has. */
export const freeOf = (state: DividedState, engine: Engine): number =>
  Math.max(0, budgetOf(state, engine) - engine.heldTokens);

/** Seconds of a step with the request in it, as configured. */
function stepSecondsOf({ config }: DividedState, one: Request, { running, contextTokens }: Engine): number {
  const { stepSeconds, sequenceSeconds, contextTokenSeconds } = config.decode;
  return stepSeconds + sequenceSeconds * (running.size + 1) + contextTokenSeconds * (contextTokens + contextOf(one));
}

/**
 * Returns how long a chunk should be while others wait for room. A chunk of g tokens costs `chunkSeconds` for every g tokens, and on
 * average g / 2 tokens of room that it does not use yet, which is g / (2 · context) of its share of the engine. The sum is least
 * where both are equal.
 */
export function usualTokens(state: DividedState, one: Request, engine: Engine): number {
  const { chunkSeconds } = state.config;
  const stepSeconds = Math.max(1e-6, stepSecondsOf(state, one, engine));
  return mostOf(one, Math.ceil(Math.sqrt((2 * chunkSeconds * contextOf(one)) / stepSeconds)));
}

/** Bounds a chunk by what the response may have yet. */
function mostOf({ maxTokens, tokens }: Request, wanted: number): number {
  const least = Math.max(leastTokens, wanted);
  return maxTokens === null ? least : Math.max(1, Math.min(least, maxTokens - tokens));
}

/**
 * Returns the tokens of the next chunk of a request on an engine; 0 if it does not fit. A request that is alone there always fits.
 * While nothing waits, a response doubles with each chunk, as far as there is room for all that run there.
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
 * Whether the responses of an engine are expected to fit it until they are over, with this one. Their number is n, their mean context
 * c, and what they have ahead is taken to be spread evenly from 0 to 2r: after t steps n · (1 − t / 2r) of them are left, with a
 * context of c + t. Their sum is most after (2r − c) / 2 steps, if it grows at all.
 */
export function fitsToTheEnd(state: DividedState, one: Request, engine: Engine): boolean {
  const n = engine.running.size + 1;
  if (n === 1) return true;
  const context = (engine.contextTokens + contextOf(one)) / n;
  const twice = (2 * (engine.aheadTokens + aheadOf(one))) / n;
  const most = twice > context ? (n * (twice + context) * (twice + context)) / (4 * twice) : n * context;
  return most <= budgetOf(state, engine);
}

/** Seconds that a request needs on an engine until it is over, and by which it delays those that run there. */
export function costOf(state: DividedState, one: Request, engine: Engine, hasContext: boolean): number {
  const { config } = state;
  const running = engine.running.size;
  const context = contextOf(one);
  const { sequenceSeconds, contextTokenSeconds } = config.decode;
  const slower = running * (sequenceSeconds + contextTokenSeconds * context);
  const decoding = Math.max(1, aheadOf(one)) * (stepSecondsOf(state, one, engine) + slower);
  if (hasContext) return decoding;
  const reading = (context / config.prefillTokensPerSecond) * (1 + running);
  const { poolTokensPerSecond } = config;
  const isNew = one.tokens === 0 || poolTokensPerSecond === undefined;
  // Loading stops nobody else.
  return decoding + (isNew ? reading : Math.min(reading, context / poolTokensPerSecond));
}
