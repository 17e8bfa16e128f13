/**
 * Measurements: seconds per token, depending on the requests in service; lengths of responses; and seconds per group of the
 * trainer. All of them come from completions and from reports of the trainer.
 */
import { z } from 'zod';
import { clockSchema, complete, type Mark, newClock } from './clock.ts';
import { addPoint, fitSchema, newFit } from './step-cost.ts';

/** Limit on the number of remembered lengths, those of the groups that left last. */
const mostLengths = 2048;
/** Each further report of the trainer multiplies the weight of earlier reports by this factor. */
const trainingRetention = 0.98;

const figure = z.number();
const amount = z.number().nonnegative();
const whole = z.int().nonnegative();

export const paceSchema = z.strictObject({
  clock: clockSchema,
  fit: fitSchema,
  lengths: z.array(z.array(amount)),
  lengthCount: whole,
  trainer: z.strictObject({ busySeconds: amount, groups: amount }),
  round: z.strictObject({
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
  }),
  plan: z.strictObject({ groups: whole, width: z.int().positive(), isMade: z.boolean(), lastGroups: whole }),
});
/** The measurements, as plain data. */
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
    clock: newClock(),
    fit: newFit(),
    lengths: [],
    lengthCount: 0,
    trainer: { busySeconds: 0, groups: 0 },
    round: newRoundPace(),
    plan: { groups: 0, width, isMade: false, lastGroups: 0 },
  };
}

/** Starts the measurements of a round. */
export function beginRound(pace: Pace): void {
  pace.plan.lastGroups = pace.round.groups;
  pace.plan.groups = 0;
  pace.round = newRoundPace();
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
