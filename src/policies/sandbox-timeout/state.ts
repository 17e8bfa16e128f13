/** Anchors, runs in flight, and the runs that reports are made from. */
import { z } from 'zod';
import { Fifo } from '../../core/fifo.ts';
import { LruMap } from '../../core/lru.ts';
import type { TimeoutConfig } from './schema.ts';

/** What is known of a test case that has been solved. */
export interface Anchor {
  /** The longest correct run, in seconds. */
  seconds: number;
  /** Runs since the last one that was given Tmax to explore. */
  runsSinceExploration: number;
}

/** A run in flight. */
export interface Run {
  readonly runId: string;
  readonly testCaseId: string;
  readonly timeoutSeconds: number;
  /** The anchor when it was requested. */
  readonly anchorSeconds: number | null;
  readonly explores: boolean;
}

/** A run that has scored and had an anchor. */
export interface PastRun {
  readonly anchorSeconds: number;
  readonly timeoutSeconds: number;
  readonly seconds: number;
  readonly outcome: 'correct' | 'wrong' | 'timeout';
  readonly explores: boolean;
}

export interface TimeoutState {
  readonly config: TimeoutConfig;
  readonly anchors: LruMap<string, Anchor>;
  readonly runs: Map<string, Run>;
  /**
   * Ids of runs that ended last: a second report about one is late, not wrong. Two generations: when the newer is full,
   * the older is forgotten as a whole, so that an end costs one insertion.
   */
  ended: { newer: Set<string>; older: Set<string> };
  readonly history: Fifo<PastRun>;
  forgotten: number;
}

/** How many ended runs are remembered by id, at least; at most twice as many. */
export const rememberedRuns = 1024;

const whole = z.int().nonnegative();
const time = z.number().nonnegative();

/** Schema of the saved state. Anchors and past runs are many: they are lists without names. */
export const timeoutSnapshot = z.strictObject({
  anchors: z.array(z.tuple([z.string(), time, whole])).describe('Test case, anchor, runs since an exploration.'),
  runs: z.array(
    z.strictObject({
      runId: z.string(),
      testCaseId: z.string(),
      timeoutSeconds: time,
      anchorSeconds: time.nullable(),
      explores: z.boolean(),
    }),
  ),
  ended: z.strictObject({ newer: z.array(z.string()), older: z.array(z.string()) }),
  history: z
    .array(z.tuple([time, time, time, z.enum(['correct', 'wrong', 'timeout']), z.boolean()]))
    .describe('Anchor, timeout, seconds, outcome, whether it explored.'),
  forgotten: whole,
});
export type SavedTimeouts = z.output<typeof timeoutSnapshot>;

export function newTimeouts(config: TimeoutConfig): TimeoutState {
  return {
    config,
    anchors: new LruMap(config.maxTestCases),
    runs: new Map(),
    ended: { newer: new Set(), older: new Set() },
    history: new Fifo(),
    forgotten: 0,
  };
}

/** Whether a run is known to have ended. */
export function hasEnded({ ended }: TimeoutState, runId: string): boolean {
  return ended.newer.has(runId) || ended.older.has(runId);
}

/** Takes a run out of flight, and remembers its id for late reports. */
export function end(state: TimeoutState, runId: string): void {
  state.runs.delete(runId);
  if (state.ended.newer.size >= rememberedRuns) state.ended = { newer: new Set(), older: state.ended.newer };
  state.ended.newer.add(runId);
}

export function save(state: TimeoutState): SavedTimeouts {
  return {
    anchors: [...state.anchors].map(([id, one]) => [id, one.seconds, one.runsSinceExploration]),
    runs: [...state.runs.values()].map((run) => ({ ...run })),
    ended: { newer: [...state.ended.newer], older: [...state.ended.older] },
    history: [...state.history].map((one) => [
      one.anchorSeconds,
      one.timeoutSeconds,
      one.seconds,
      one.outcome,
      one.explores,
    ]),
    forgotten: state.forgotten,
  };
}

export function load(saved: SavedTimeouts, config: TimeoutConfig): TimeoutState {
  const state = newTimeouts(config);
  for (const [id, seconds, runsSinceExploration] of saved.anchors) {
    state.anchors.set(id, { seconds, runsSinceExploration });
  }
  for (const run of saved.runs) state.runs.set(run.runId, { ...run });
  state.ended = { newer: new Set(saved.ended.newer), older: new Set(saved.ended.older) };
  for (const [anchorSeconds, timeoutSeconds, seconds, outcome, explores] of saved.history) {
    state.history.push({ anchorSeconds, timeoutSeconds, seconds, outcome, explores });
  }
  state.forgotten = saved.forgotten;
  return state;
}
