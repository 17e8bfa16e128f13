/** The data for the charts on disaggregated pools in a report: seconds by the trainer's activity, and both pools over time. */
import type { PoolsComparison, PoolsRow, PoolsRun, PoolsSchedulerResult } from '../pools/result.ts';
import { hasBoth } from './best.ts';
import { bars } from './data.ts';

/** Kinds of bars in a timeline, in the order of their indices; a `round` contains the other bars. */
export const poolActivities = ['round', 'rollout', 'train', 'sync', 'overhead'] as const;

/**
 * Row, start and end in seconds, activity (index into {@link poolActivities}), and the largest number of running sequences as a
 * share of the maximum (0 to 1).
 */
export type PoolBar = readonly [row: number, start: number, end: number, activity: number, load: number];

/** Stages of the trainer's time from rollout start to new weights, in the order of drawing. */
export const trainerStages = ['wait before the first update', 'later waits', 'training', 'new weights'] as const;

/** One workload, for charts. */
export interface PoolsData {
  readonly name: string;
  /** Seconds of each of {@link trainerStages}, for every scheduler. */
  readonly waits: readonly { readonly label: string; readonly parts: readonly number[] }[];
  /** Rows of the shown schedulers, one scheduler below the other, on one time axis. */
  readonly rows: readonly string[];
  readonly bars: readonly PoolBar[];
  readonly lastSeconds: number;
  /** Seconds that cover the first round of all shown schedulers. */
  readonly windowSeconds: number;
}

/** Returns the schedulers with a timeline: the first, the one with pipelining alone, and the fastest with both mechanisms. */
export function pictured(schedulers: readonly PoolsSchedulerResult[]): number[] {
  const both = schedulers
    .map((_, index) => index)
    .filter((index) => hasBoth(schedulers[index]!))
    .sort((a, b) => schedulers[a]!.mainSeconds.value - schedulers[b]!.mainSeconds.value || a - b);
  const alone = schedulers.findIndex((one) => one.pipelining && one.width === 'all');
  return [...new Set([0, alone, both[0] ?? -1])].filter((index) => index >= 0);
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;

/** Most updates that are drawn separately; more updates are merged. */
const mostUpdates = 2000;

function barsOf(row: PoolsRow, rowIndex: number, mostRunning: number, totalSeconds: number): PoolBar[] {
  const kind = (activity: string): number => poolActivities.indexOf(activity as (typeof poolActivities)[number]);
  if (row.pool === 'trainer' && row.timeline.length <= mostUpdates) {
    return row.timeline.map((one) => [rowIndex, round(one.startSeconds), round(one.endSeconds), kind(one.activity), 1]);
  }
  return bars(row.timeline, mostRunning, totalSeconds, poolActivities).map(([start, end, activity, load]) => [
    rowIndex,
    start,
    end,
    activity,
    load,
  ]);
}

const rowName = ({ pool, rowId }: PoolsRow, engines: number): string => {
  if (pool === 'trainer') return 'trainer';
  return engines === 1 ? 'engine' : rowId.replace('-', ' ');
};

/** Returns the data of a comparison for charts. */
export function poolsData({ workload, schedulers }: PoolsComparison): PoolsData {
  const shown = pictured(schedulers).map((index) => schedulers[index]!);
  const runs: readonly PoolsRun[] = shown.map((one) => one.runs[0]!);
  const lastSeconds = Math.max(...runs.map((run) => run.totalSeconds));
  const running = runs.flatMap((run) => run.rows.flatMap((row) => row.timeline.map((one) => one.running)));
  const mostRunning = running.reduce((most, one) => Math.max(most, one), 1);
  const rows: string[] = [];
  const drawn: PoolBar[] = [];
  runs.forEach((run, index) => {
    for (const { startSeconds, endSeconds } of run.rounds) {
      drawn.push([rows.length, round(startSeconds), round(endSeconds), 0, 1]);
    }
    rows.push(shown[index]!.label);
    for (const row of run.rows) {
      drawn.push(...barsOf(row, rows.length, mostRunning, lastSeconds));
      rows.push(rowName(row, run.rows.length - 1));
    }
  });
  return {
    name: workload.name,
    waits: schedulers.map((one) => ({
      label: one.label,
      parts: [
        one.firstDispatchSeconds,
        Math.max(0, one.waitSeconds - one.firstDispatchSeconds),
        one.mainSeconds.value - one.waitSeconds,
        one.publishSeconds,
      ].map(round),
    })),
    rows,
    bars: drawn,
    lastSeconds: round(lastSeconds),
    windowSeconds: round(Math.max(...runs.map((run) => run.rounds[0]!.endSeconds))),
  };
}
