/**
 * A clock of tokens: it shows how many tokens a request would have now if it had been in service all the time. Every completion
 * corrects the clock. The numbers of requests and context tokens in service are integrated over the clock's tokens. Each event
 * takes constant time.
 */
import { z } from 'zod';

/** Bound on the tokens per second of a response: events very close in time would otherwise give a higher pace. */
const mostTokensPerSecond = 1e6;

const amount = z.number().nonnegative();

export const clockSchema = z.strictObject({
  at: amount,
  running: z.int().nonnegative(),
  /**
   * Readings at the last completion that corrected the clock: its tokens, and the integrals over tokens for the requests in
   * service and for their context.
   */
  known: z.strictObject({ at: amount, tokens: amount, requests: amount, context: amount }),
  /** Integrals since that completion: seconds times requests in service, and times `started`. */
  since: z.strictObject({ requestSeconds: amount, startedSeconds: amount }),
  /** Sum of the clock readings at which the requests in service came. */
  started: amount,
  tokensPerSecond: amount,
});
/** A clock, as plain data. */
export type Clock = z.output<typeof clockSchema>;

export function newClock(): Clock {
  return {
    at: 0,
    running: 0,
    known: { at: 0, tokens: 0, requests: 0, context: 0 },
    since: { requestSeconds: 0, startedSeconds: 0 },
    started: 0,
    tokensPerSecond: 0,
  };
}

/** Schema of the mark that a request keeps from its admission: the time in seconds, the reading of the clock, and its integrals. */
export const mark = z.strictObject({ since: amount, clock: amount, requests: amount, context: amount }).readonly();
/** A mark, as plain data. */
export type Mark = z.output<typeof mark>;

/** The mark of requests that were never admitted. */
export const noMark: Mark = Object.freeze({ since: 0, clock: 0, requests: 0, context: 0 });

/** Advances the clock to a time; called before the number of running requests changes. */
export function advance(clock: Clock, at: number): void {
  const seconds = at - clock.at;
  clock.since.requestSeconds += clock.running * seconds;
  clock.since.startedSeconds += clock.started * seconds;
  clock.at = at;
}

/** Returns the mark of a request admitted now. Between completions the clock runs at the pace of the last response. */
export function markNow(clock: Clock): Mark {
  const { known, at } = clock;
  if (clock.running === 0) {
    set(clock, 0, 0, 0);
    clock.started = 0;
  }
  const seconds = at - known.at;
  const tokens = known.tokens + clock.tokensPerSecond * seconds;
  const requests = known.requests + (seconds > 0 ? requestsUntil(clock, tokens) : 0);
  const context = known.context + (seconds > 0 ? contextUntil(clock, tokens) : 0);
  return { since: at, clock: tokens, requests, context };
}

/** Counts an admitted request with its mark. */
export function begin(clock: Clock, mark: Mark): void {
  clock.running += 1;
  clock.started += mark.clock;
}

/** Takes a request out of service, given the mark of its admission. */
export function finish(clock: Clock, { clock: tokens }: Mark): void {
  clock.running -= 1;
  clock.started = Math.max(0, clock.started - tokens);
}

/**
 * Completes a request that is still in service, given the mark of its admission. Returns the requests in service and their
 * context, averaged over the tokens of the request; `undefined` if the clock has not moved since the mark.
 */
export function complete(
  clock: Clock,
  mark: Mark,
  tokens: number,
): { readonly requests: number; readonly context: number } | undefined {
  const { known, at } = clock;
  const shown = mark.clock + tokens;
  clock.tokensPerSecond = Math.min(tokens / (at - mark.since), mostTokensPerSecond);
  // A request that had to wait inside the engine has fewer tokens than the clock shows, and does not correct it.
  if (shown > known.tokens && at > known.at) {
    set(clock, shown, known.requests + requestsUntil(clock, shown), known.context + contextUntil(clock, shown));
  }
  const span = known.tokens - mark.clock;
  if (span <= 0) return undefined;
  const requests = Math.max(0, (known.requests - mark.requests) / span);
  return { requests, context: Math.max(0, (known.context - mark.context) / span) };
}

function set({ known, since, at }: Clock, tokens: number, requests: number, context: number): void {
  known.at = at;
  known.tokens = tokens;
  known.requests = requests;
  known.context = context;
  since.requestSeconds = 0;
  since.startedSeconds = 0;
}

/** Returns the growth, up to now, of the integral of requests over tokens. */
function requestsUntil({ at, known, since }: Clock, tokens: number): number {
  return (since.requestSeconds / (at - known.at)) * (tokens - known.tokens);
}

function contextUntil({ at, known, since }: Clock, tokens: number): number {
  const seconds = at - known.at;
  // The context of a request is the clock reading minus the reading when the request came.
  const mean = (since.requestSeconds / seconds) * (known.tokens + tokens) * 0.5 - since.startedSeconds / seconds;
  return Math.max(0, mean * (tokens - known.tokens));
}
