/**
 * Measurements, from completions and from reports of the trainer: a clock of tokens, seconds per token by the requests in service, lengths
 * of responses, and seconds per group of the trainer.
 */

import { z } from 'zod';
import { makerOf } from '../../core/machine/beginning.ts';

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

/** Factor on the earlier sums at each further completion: about the last 4,000 completions count. */
const retention = 0.99975;
/** Least spread of the measurements, as a share of their mean square; below it a slope is unknown. */
const leastSpread = 1e-9;
/** The same limit for distinguishing two slopes. */
const leastDifference = 1e-6;

/** Schema for the sums of the fit: n requests, c tokens of context, weighted by the tokens of each response. */
export const fitSchema = z.strictObject({
  weight: amount,
  n: amount,
  c: amount,
  seconds: amount,
  nn: amount,
  nc: amount,
  cc: amount,
  nSeconds: amount,
  cSeconds: amount,
  /** Least seconds per token of any response; the value slowly rises again. */
  fastest: amount.nullable(),
});
/** The sums of a fit, as plain data. */
export type Fit = z.output<typeof fitSchema>;

export function newFit(): Fit {
  return { weight: 0, n: 0, c: 0, seconds: 0, nn: 0, nc: 0, cc: 0, nSeconds: 0, cSeconds: 0, fastest: null };
}

/** Adds a response of `tokens` that took `seconds`, with n requests and c tokens of context in service. */
export function addPoint(fit: Fit, tokens: number, seconds: number, n: number, c: number): void {
  const forgotten = fit.fastest === null ? Number.POSITIVE_INFINITY : fit.fastest / retention;
  fit.fastest = Math.min(forgotten, seconds / tokens);
  fit.weight = fit.weight * retention + tokens;
  fit.n = fit.n * retention + tokens * n;
  fit.c = fit.c * retention + tokens * c;
  fit.seconds = fit.seconds * retention + seconds;
  fit.nn = fit.nn * retention + tokens * n * n;
  fit.nc = fit.nc * retention + tokens * n * c;
  fit.cc = fit.cc * retention + tokens * c * c;
  fit.nSeconds = fit.nSeconds * retention + n * seconds;
  fit.cSeconds = fit.cSeconds * retention + c * seconds;
}

/** Seconds per token: `base` + `slope` · requests in service + `contextSlope` · their context tokens, all >= 0. */
export interface StepCost {
  readonly base: number;
  readonly slope: number;
  readonly contextSlope: number;
  /** The least seconds per token of any response. */
  readonly fastest: number;
}

/** Returns the least-squares plane whose three coefficients are >= 0. */
export function stepCost({ weight, fastest, ...sums }: Fit): StepCost | undefined {
  if (weight === 0 || fastest === null) return undefined;
  const [n, c, seconds] = [sums.n / weight, sums.c / weight, sums.seconds / weight];
  const nn = sums.nn / weight - n * n;
  const cc = sums.cc / weight - c * c;
  const nc = sums.nc / weight - n * c;
  const nSeconds = sums.nSeconds / weight - n * seconds;
  const cSeconds = sums.cSeconds / weight - c * seconds;
  // The search starts from a flat plane: without other evidence, width seems to cost nothing.
  let best: StepCost = { base: seconds, slope: 0, contextSlope: 0, fastest };
  let least = 0;
  const consider = (slope: number, contextSlope: number): void => {
    const base = seconds - slope * n - contextSlope * c;
    if (!(slope >= 0 && contextSlope >= 0 && base >= 0)) return;
    const squares = slope * slope * nn + 2 * slope * contextSlope * nc + contextSlope * contextSlope * cc;
    const error = squares - 2 * (slope * nSeconds + contextSlope * cSeconds);
    if (error >= least) return;
    least = error;
    best = { base, slope, contextSlope, fastest };
  };
  const [hasN, hasC] = [nn > leastSpread * n * n, cc > leastSpread * c * c];
  if (hasN) {
    consider(nSeconds / nn, 0);
    // If the best base is below 0, the base is 0, and the requests account for all of the time.
    consider(seconds / n, 0);
  }
  if (hasC) consider(0, cSeconds / cc);
  const determinant = nn * cc - nc * nc;
  if (hasN && hasC && determinant > leastDifference * nn * cc) {
    consider((nSeconds * cc - cSeconds * nc) / determinant, (cSeconds * nn - nSeconds * nc) / determinant);
  }
  return best;
}

/** Limit on the number of remembered lengths, those of the groups that left last. */
const mostLengths = 2048;
/** Each further report of the trainer multiplies the weight of earlier reports by this factor. */
const trainingRetention = 0.98;

const figure = z.number();
const whole = z.int().nonnegative();

const roundPace = z.strictObject({
  groups: whole,
  served: whole,
  consumed: whole,
  /** Whether another update was ready for the trainer at the latest report. */
  isSupplied: z.boolean(),
  firstServedSeconds: amount.nullable(),
  trainedUntil: figure.nullable(),
  waitedSeconds: amount,
  busySeconds: amount,
  trained: whole,
  reports: whole,
  isReported: z.boolean(),
});

export const paceSchema = z.strictObject({
  clock: clockSchema,
  fit: fitSchema,
  lengths: z.array(z.array(amount)),
  lengthCount: whole,
  trainer: z.strictObject({ busySeconds: amount, groups: amount }),
  round: roundPace,
  plan: z.strictObject({ groups: whole, width: z.int().positive(), isMade: z.boolean(), lastGroups: whole }),
});
/** The measurements, as plain data. */
export type Pace = z.output<typeof paceSchema>;

const newRoundPace = makerOf(roundPace);

export function newPace(width: number): Pace {
  return {
    clock: newClock(),
    fit: newFit(),
    lengths: [],
    lengthCount: 0,
    trainer: { busySeconds: 0, groups: 0 },
    round: newRoundPace({}),
    plan: { groups: 0, width, isMade: false, lastGroups: 0 },
  };
}

/** Starts the measurements of a round. */
export function beginRound(pace: Pace): void {
  pace.plan.lastGroups = pace.round.groups;
  pace.plan.groups = 0;
  pace.round = newRoundPace({});
}

/** Measures a request that was admitted at this mark and completes now; it is still in service. */
export function measure(pace: Pace, mark: Mark, tokens: number): void {
  const seconds = pace.clock.at - mark.since;
  if (seconds <= 0 || tokens <= 0) return;
  const around = complete(pace.clock, mark, tokens);
  if (around !== undefined) addPoint(pace.fit, tokens, seconds, around.requests, around.context);
}

/** Remembers the lengths of a group's responses. */
export function remember(pace: Pace, lengths: number[]): void {
  if (lengths.length === 0 || lengths.length > mostLengths) return;
  pace.lengths.push(lengths);
  pace.lengthCount += lengths.length;
  while (pace.lengthCount > mostLengths) pace.lengthCount -= pace.lengths.shift()!.length;
}

/** Returns the trainer's seconds per group; 0 while unknown. */
export function trainSecondsPerGroup({ trainer }: Pace): number {
  return trainer.groups === 0 ? 0 : trainer.busySeconds / trainer.groups;
}

/**
 * Counts the seconds, up to now, in which the trainer has worked on some groups.
 *
 * @param isBehind - whether groups are deferred, so that the frontier may be the cause of a wait
 * @param groupsPerUpdate - groups that the trainer takes at a time
 */
export function trained(
  pace: Pace,
  groups: number,
  seconds: number,
  { at, isBehind, groupsPerUpdate }: { at: number; isBehind: boolean; groupsPerUpdate: number },
): void {
  const { round, trainer } = pace;
  const start = Math.max(at - seconds, 0);
  const before = round.trainedUntil;
  const idle = before === null ? 0 : Math.max(0, start - before);
  // Replicas that work at the same time count as one trainer: only the time after the last report counts. If another update is
  // ready, the trainer does not wait: it does work that no report covers, such as the optimizer step.
  const busy = at - Math.max(start, before ?? start) + (round.isSupplied ? idle : 0);
  trainer.busySeconds = trainer.busySeconds * trainingRetention + busy;
  trainer.groups = trainer.groups * trainingRetention + groups;
  const isSupplied = round.isSupplied;
  round.trainedUntil = at;
  round.consumed += groups;
  // One group more than needed, because the last group to leave may still lack rewards.
  round.isSupplied = round.served - round.consumed >= 2 * groupsPerUpdate;
  if (!isBehind) return;
  round.reports += 1;
  round.trained += groups;
  round.busySeconds += busy;
  if (!isSupplied) round.waitedSeconds += idle;
}
