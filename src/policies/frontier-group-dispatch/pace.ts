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

/** Schema of what is measured. */
export const paceSchema = z.strictObject({
  at: amount,
  running: whole,
  requestSeconds: amount,
  fit: z.strictObject({ weight: amount, n: amount, seconds: amount, nn: amount, nSeconds: amount }),
  /** The least seconds a token of any response; forgotten slowly. */
  fastest: amount.nullable(),
  lengths: z.array(z.array(amount)),
  lengthCount: whole,
  trainer: z.strictObject({ busySeconds: amount, groups: amount }),
  round: z.strictObject({
    groups: whole,
    served: whole,
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
    requestSeconds: 0,
    fit: { weight: 0, n: 0, seconds: 0, nn: 0, nSeconds: 0 },
    fastest: null,
    lengths: [],
    lengthCount: 0,
    trainer: { busySeconds: 0, groups: 0 },
    round: newRoundPace(),
    plan: { groups: 0, width, isMade: false, lastGroups: 0 },
  };
}

/** Goes on to a time: before anything that changes how many requests run. */
export function advance(pace: Pace, at: number): void {
  pace.requestSeconds += pace.running * (at - pace.at);
  pace.at = at;
}

/** A round begins. */
export function beginRound(pace: Pace): void {
  pace.plan.lastGroups = pace.round.groups;
  pace.plan.groups = 0;
  pace.round = newRoundPace();
}

/**
 * A request that was admitted at `since` has completed: its seconds a token, and how many were in service on average
 * meanwhile, are a point of a straight line, weighted by its tokens.
 */
export function measure(pace: Pace, since: number, sinceRequestSeconds: number, tokens: number): void {
  const seconds = pace.at - since;
  if (seconds <= 0 || tokens <= 0) return;
  const n = (pace.requestSeconds - sinceRequestSeconds) / seconds;
  const forgotten = pace.fastest === null ? Number.POSITIVE_INFINITY : pace.fastest / keptShare;
  pace.fastest = Math.min(forgotten, seconds / tokens);
  const { fit } = pace;
  fit.weight = fit.weight * keptShare + tokens;
  fit.n = fit.n * keptShare + tokens * n;
  fit.seconds = fit.seconds * keptShare + seconds;
  fit.nn = fit.nn * keptShare + tokens * n * n;
  fit.nSeconds = fit.nSeconds * keptShare + n * seconds;
}

/** Remembers how long the responses of a group were. */
export function remember(pace: Pace, lengths: number[]): void {
  if (lengths.length === 0 || lengths.length > mostLengths) return;
  pace.lengths.push(lengths);
  pace.lengthCount += lengths.length;
  while (pace.lengthCount > mostLengths) pace.lengthCount -= pace.lengths.shift()!.length;
}

/** Seconds a token: `base` + `slope` · requests in service, both >= 0; `fastest` is the least that any response has had. */
export interface StepLine {
  readonly base: number;
  readonly slope: number;
  readonly fastest: number;
}

/** The straight line through what was measured (least squares). */
export function stepLine({ fit, fastest }: Pace): StepLine | undefined {
  if (fit.weight === 0 || fastest === null) return undefined;
  const mean = fit.n / fit.weight;
  const meanSeconds = fit.seconds / fit.weight;
  const spread = fit.nn / fit.weight - mean * mean;
  // Without a spread of what was in service nothing is known of the slope: flat, so that wide seems to cost nothing.
  if (spread <= 1e-9 * mean * mean) return { base: meanSeconds, slope: 0, fastest };
  const slope = Math.max(0, (fit.nSeconds / fit.weight - mean * meanSeconds) / spread);
  const base = meanSeconds - slope * mean;
  return base >= 0 ? { base, slope, fastest } : { base: 0, slope: meanSeconds / mean, fastest };
}

/** What the trainer takes for a group, in seconds; 0 while unknown. */
export function trainSecondsPerGroup({ trainer }: Pace): number {
  return trainer.groups === 0 ? 0 : trainer.busySeconds / trainer.groups;
}

/**
 * The trainer has worked `seconds` on this many groups, until now.
 *
 * @param isBehind - whether groups are deferred, so that a wait may be the frontier's doing
 */
export function trained(pace: Pace, groups: number, seconds: number, at: number, isBehind: boolean): void {
  const { round, trainer } = pace;
  const start = Math.max(at - seconds, 0);
  const before = round.trainedUntil;
  // Replicas that work side by side are one trainer: only what is after the last report counts.
  const busy = at - Math.max(start, before ?? start);
  trainer.busySeconds = trainer.busySeconds * keptTrainingShare + busy;
  trainer.groups = trainer.groups * keptTrainingShare + groups;
  round.trainedUntil = at;
  if (!isBehind) return;
  round.reports += 1;
  round.trained += groups;
  round.busySeconds += busy;
  if (before !== null) round.waitedSeconds += Math.max(0, start - before);
}
