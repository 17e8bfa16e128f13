/**
 * What is measured: how long a token takes with how many requests in service, how long responses are, and what the
 * trainer takes for a group. All of it comes from completions and from what the trainer reports.
 */
import { z } from 'zod';

/** Lengths that are remembered, at most: those of the groups that left last. */
const mostLengths = 2048;
/** How much of what was measured stays with each further completion: about the last 4,000 count. */
const keptShare = 0.99975;
/** The same for what the trainer reports. */
const keptTrainingShare = 0.98;

const figure = z.number();
const amount = z.number().nonnegative();
const whole = z.int().nonnegative();

const reading = { clock: amount, requests: amount, context: amount };

/** Schema of what is measured. */
export const paceSchema = z.strictObject({
  at: amount,
  running: whole,
  /**
   * Tokens that a request in service all along would have, and the integrals over them of the requests in service and of
   * their context: as far as the last completion tells.
   */
  known: z.strictObject({ at: amount, ...reading }),
  /** Since then: seconds times requests in service, and times the sum of what the clock was when each came. */
  since: z.strictObject({ requestSeconds: amount, startedSeconds: amount }),
  /** Sum of what the clock was when each of those in service came. */
  started: amount,
  tokensPerSecond: amount,
  fit: z.strictObject({
    weight: amount,
    n: amount,
    c: amount,
    seconds: amount,
    nn: amount,
    nc: amount,
    cc: amount,
    nSeconds: amount,
    cSeconds: amount,
  }),
  /** The least seconds a token of any response; forgotten slowly. */
  fastest: amount.nullable(),
  lengths: z.array(z.array(amount)),
  lengthCount: whole,
  trainer: z.strictObject({ busySeconds: amount, groups: amount }),
  round: z.strictObject({
    groups: whole,
    served: whole,
    consumed: whole,
    /** Whether there was another update for the trainer when it reported last. */
    isSupplied: z.boolean(),
    firstServedSeconds: amount.nullable(),
    trainedUntil: figure.nullable(),
    waitedSeconds: amount,
    busySeconds: amount,
    trained: whole,
    reports: whole,
    isReported: z.boolean(),
  }),
  plan: z.strictObject({ groups: whole, width: z.int().positive(), isMade: z.boolean(), lastGroups: whole }),
});
/** What is measured, as plain data. */
export type Pace = z.output<typeof paceSchema>;

const newRoundPace = (): Pace['round'] => ({
  groups: 0,
  served: 0,
  consumed: 0,
  isSupplied: false,
  firstServedSeconds: null,
  trainedUntil: null,
  waitedSeconds: 0,
  busySeconds: 0,
  trained: 0,
  reports: 0,
  isReported: false,
});

export function newPace(width: number): Pace {
  return {
    at: 0,
    running: 0,
    known: { at: 0, clock: 0, requests: 0, context: 0 },
    since: { requestSeconds: 0, startedSeconds: 0 },
    started: 0,
    tokensPerSecond: 0,
    fit: { weight: 0, n: 0, c: 0, seconds: 0, nn: 0, nc: 0, cc: 0, nSeconds: 0, cSeconds: 0 },
    fastest: null,
    lengths: [],
    lengthCount: 0,
    trainer: { busySeconds: 0, groups: 0 },
    round: newRoundPace(),
    plan: { groups: 0, width, isMade: false, lastGroups: 0 },
  };
}

/** What a request remembers of the moment when it was admitted: the clock, and its integrals. */
export interface Mark {
  /** Seconds. */
  since: number;
  clock: number;
  clockRequests: number;
  clockContext: number;
}

/** Goes on to a time: before anything that changes how many requests run. */
export function advance(pace: Pace, at: number): void {
  const seconds = at - pace.at;
  pace.since.requestSeconds += pace.running * seconds;
  pace.since.startedSeconds += pace.started * seconds;
  pace.at = at;
}

/** What the integrals grow by until the clock shows `clock`, now: without allocation, since it is in the path of every event. */
function requestsUntil({ at, known, since }: Pace, clock: number): number {
  return (since.requestSeconds / (at - known.at)) * (clock - known.clock);
}

function contextUntil(pace: Pace, clock: number): number {
  const { at, known, since } = pace;
  const share = (clock - known.clock) / (at - known.at);
  return Math.max(0, share * (since.requestSeconds * (known.clock + clock) * 0.5 - since.startedSeconds));
}

/** What was known becomes what is known now, when the clock shows `clock`. */
function restart({ known, since, at }: Pace, clock: number, requests: number, context: number): void {
  known.at = at;
  known.clock = clock;
  known.requests = requests;
  known.context = context;
  since.requestSeconds = 0;
  since.startedSeconds = 0;
}

/** A request is admitted, now. */
export function begin(pace: Pace, mark: Mark): void {
  const { known, at } = pace;
  if (pace.running === 0) {
    restart(pace, 0, 0, 0);
    pace.started = 0;
  }
  const seconds = at - known.at;
  const clock = known.clock + pace.tokensPerSecond * seconds;
  mark.since = at;
  mark.clock = clock;
  mark.clockRequests = known.requests + (seconds > 0 ? requestsUntil(pace, clock) : 0);
  mark.clockContext = known.context + (seconds > 0 ? contextUntil(pace, clock) : 0);
  pace.running += 1;
  pace.started += clock;
}

/** A request that came at this mark is no longer in service. */
export function finish(pace: Pace, { clock }: Mark): void {
  pace.running -= 1;
  pace.started = Math.max(0, pace.started - clock);
}

/** A round begins. */
export function beginRound(pace: Pace): void {
  pace.plan.lastGroups = pace.round.groups;
  pace.plan.groups = 0;
  pace.round = newRoundPace();
}

/**
 * A request that was admitted at this mark completes, still in service: its seconds a token, how many were in service, and
 * with how much context, on average meanwhile, are a point of a plane, weighted by its tokens.
 */
export function measure(pace: Pace, mark: Mark, tokens: number): void {
  const seconds = pace.at - mark.since;
  if (seconds <= 0 || tokens <= 0) return;
  const { known } = pace;
  const clock = mark.clock + tokens;
  pace.tokensPerSecond = tokens / seconds;
  if (clock > known.clock && pace.at > known.at) {
    restart(pace, clock, known.requests + requestsUntil(pace, clock), known.context + contextUntil(pace, clock));
  }
  // One that had to wait inside the engine has fewer tokens than the clock says.
  const span = known.clock - mark.clock;
  if (span <= 0) return;
  const forgotten = pace.fastest === null ? Number.POSITIVE_INFINITY : pace.fastest / keptShare;
  pace.fastest = Math.min(forgotten, seconds / tokens);
  const n = (known.requests - mark.clockRequests) / span;
  const c = (known.context - mark.clockContext) / span;
  const { fit } = pace;
  fit.weight = fit.weight * keptShare + tokens;
  fit.n = fit.n * keptShare + tokens * n;
  fit.c = fit.c * keptShare + tokens * c;
  fit.seconds = fit.seconds * keptShare + seconds;
  fit.nn = fit.nn * keptShare + tokens * n * n;
  fit.nc = fit.nc * keptShare + tokens * n * c;
  fit.cc = fit.cc * keptShare + tokens * c * c;
  fit.nSeconds = fit.nSeconds * keptShare + n * seconds;
  fit.cSeconds = fit.cSeconds * keptShare + c * seconds;
}

/** Remembers how long the responses of a group were. */
export function remember(pace: Pace, lengths: number[]): void {
  if (lengths.length === 0 || lengths.length > mostLengths) return;
  pace.lengths.push(lengths);
  pace.lengthCount += lengths.length;
  while (pace.lengthCount > mostLengths) pace.lengthCount -= pace.lengths.shift()!.length;
}

/** Seconds a token: `base` + `slope` · requests in service + `contextSlope` · their tokens, all >= 0. */
export interface StepLine {
  readonly base: number;
  readonly slope: number;
  readonly contextSlope: number;
  /** The least that any response has had. */
  readonly fastest: number;
}

/** The plane through what was measured: least squares, without what would come out below 0. */
export function stepLine({ fit, fastest }: Pace): StepLine | undefined {
  if (fit.weight === 0 || fastest === null) return undefined;
  const w = fit.weight;
  const [n, c, y] = [fit.n / w, fit.c / w, fit.seconds / w];
  const nn = Math.max(0, fit.nn / w - n * n);
  const cc = Math.max(0, fit.cc / w - c * c);
  const nc = fit.nc / w - n * c;
  const ny = fit.nSeconds / w - n * y;
  const cy = fit.cSeconds / w - c * y;
  let best: { error: number; line: StepLine } | undefined;
  const consider = (slope: number, contextSlope: number): void => {
    const base = y - slope * n - contextSlope * c;
    if (!(slope >= 0 && contextSlope >= 0 && base >= 0)) return;
    const error =
      slope * slope * nn +
      contextSlope * contextSlope * cc +
      2 * slope * contextSlope * nc -
      2 * (slope * ny + contextSlope * cy);
    if (best === undefined || error < best.error) best = { error, line: { base, slope, contextSlope, fastest } };
  };
  consider(0, 0);
  const least = 1e-9;
  const isN = nn > least * n * n;
  const isC = cc > least * c * c;
  if (isN) consider(ny / nn, 0);
  if (isC) consider(0, cy / cc);
  const det = nn * cc - nc * nc;
  if (isN && isC && det > 1e-6 * nn * cc) consider((ny * cc - cy * nc) / det, (cy * nn - ny * nc) / det);
  // Where only a base below 0 would fit better, all of it is the requests'.
  if (n > 0) consider(y / n, 0);
  return best?.line;
}

/** What the trainer takes for a group, in seconds; 0 while unknown. */
export function trainSecondsPerGroup({ trainer }: Pace): number {
  return trainer.groups === 0 ? 0 : trainer.busySeconds / trainer.groups;
}

/**
 * The trainer has worked `seconds` on this many groups, until now.
 *
 * @param isBehind - whether groups are deferred, so that a wait may be the frontier's doing
 * @param groupsPerUpdate - groups that it takes at a time
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
  // Replicas that work side by side are one trainer: only what is after the last report counts. With another update at
  // hand it does not wait: it is busy with what no report tells, such as its optimizer.
  const busy = at - Math.max(start, before ?? start) + (round.isSupplied ? idle : 0);
  trainer.busySeconds = trainer.busySeconds * keptTrainingShare + busy;
  trainer.groups = trainer.groups * keptTrainingShare + groups;
  const isSupplied = round.isSupplied;
  round.trainedUntil = at;
  round.consumed += groups;
  // One more than is needed: the last to leave may still be without rewards.
  round.isSupplied = round.served - round.consumed >= 2 * groupsPerUpdate;
  if (!isBehind) return;
  round.reports += 1;
  round.trained += groups;
  round.busySeconds += busy;
  if (!isSupplied) round.waitedSeconds += idle;
}
