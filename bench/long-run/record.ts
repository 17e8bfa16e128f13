/** What a long run keeps in its file, so that it goes on where it was. */
import { z } from 'zod';

const whole = z.int().nonnegative();
const counts = z.record(z.string(), whole);

/** A point of a lane: what it had done by a quarter of its events. */
const mark = z.strictObject({ done: whole, decisions: whole, refused: whole, snapshotBytes: whole });

const lane = z.strictObject({
  policy: z.string(),
  /** Which of the example configurations, from 0. */
  configuration: whole,
  /** Events so far: `refused` of them were refused. */
  done: whole,
  refused: whole,
  decisions: whole,
  malformed: whole,
  restores: whole,
  /** How often it was begun anew. */
  lives: whole,
  seconds: z.number().nonnegative(),
  /** Characters of the state as JSON, when it was last restored. */
  snapshotBytes: whole,
  /** Of all answers so far, in order. */
  digest: z.string(),
  seen: z.strictObject({ events: counts, refusals: counts, reasons: counts }),
  quarters: z.array(mark),
  /** Position of the generator of random numbers; absent before the first event. */
  generator: z.array(z.number()).optional(),
  snapshot: z.unknown().optional(),
});

/** All of a run. */
export const runRecord = z.strictObject({
  format: z.literal('rollflex-long-run'),
  version: z.literal(1),
  /** Versions of what was run; a run of others is another run. */
  of: z.string(),
  events: whole,
  seed: whole,
  life: whole,
  lanes: z.array(lane),
  /** Bytes after a collection of garbage, at the beginning of each session of work and at quarters of the events. */
  heap: z.array(z.strictObject({ done: whole, bytes: whole, session: whole })),
  /** How often the run was begun or gone on with. */
  sessions: whole,
});

/** What a lane keeps. */
export type LaneRecord = z.output<typeof lane>;
/** What a run keeps. */
export type RunRecord = z.output<typeof runRecord>;
