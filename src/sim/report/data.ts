/** The data of a report's charts, reduced in size: a timeline has thousands of segments, but a chart has a thousand pixels. */
import type { ComparisonResult, EngineResult, RunResult, Segment } from '../comparison/result.ts';
import { type AlikeEngines, alikeEngines } from './alike.ts';
import { bestOf, isIdle } from './best.ts';

/**
 * Start and end in seconds, activity (index into `activities`), and the largest number of running sequences as a share of the
 * maximum (0 to 1).
 */
export type Bar = readonly [start: number, end: number, activity: number, load: number];

/** Kinds of bars, in the order of their indices. */
export const activities = ['rollout', 'train', 'sync', 'reward', 'overhead', 'reference'] as const;

/** One run of one scheduler, for charts. */
export interface RunData {
  readonly scheduler: string;
  readonly label: string;
  readonly totalSeconds: number;
  /** Rows: single engines, or groups of engines that do the same. */
  readonly engines: readonly { readonly label: string; readonly bars: readonly Bar[]; readonly bubbleRatio: number }[];
  readonly steps: readonly {
    readonly kind: 'short' | 'long';
    readonly startSeconds: number;
    readonly endSeconds: number;
    readonly rollout: number;
    readonly reward: number;
    readonly reference: number;
    readonly train: number;
    readonly sync: number;
    readonly queueDepth: number;
  }[];
  readonly lengthQuantiles: readonly number[];
}

/** A bar of the waterfall from the seconds of the baseline to the seconds of the best scheduler. */
export interface WaterfallBar {
  readonly label: string;
  /** Seconds at which the bar begins; 0 for the time of a whole step. */
  readonly from: number;
  readonly to: number;
}

/** One workload, for charts. */
export interface WorkloadData {
  readonly name: string;
  readonly runs: readonly RunData[];
  /** Index of the presented scheduler's run; the run of the baseline is the first. */
  readonly after: number;
  readonly waterfall: readonly WaterfallBar[];
}

/** Number of shades for load: readers could not distinguish more. */
const shades = 6;

/**
 * Returns a timeline, reduced in size.
 *
 * @param kinds - kinds of bars, in the order of the indices
 */
export function bars(
  timeline: readonly Segment[],
  mostRunning: number,
  totalSeconds: number,
  kinds: readonly string[] = activities,
): Bar[] {
  const result: Bar[] = [];
  // A shorter bar is invisible, even if the chart is zoomed twenty times.
  const finest = totalSeconds / 20_000;
  for (const { startSeconds, endSeconds, activity, running } of timeline) {
    if (activity === 'rollout' && running === 0) continue;
    const load = activity === 'rollout' ? Math.ceil((running / mostRunning) * shades) / shades : 1;
    const kind = kinds.indexOf(activity);
    const last = result[result.length - 1];
    const touches = last !== undefined && startSeconds - last[1] <= finest && last[2] === kind;
    // Short pieces are merged until they are visible; a long piece keeps its own shade.
    if (touches && (last[3] === load || last[1] - last[0] < finest)) {
      const most = endSeconds - startSeconds < finest ? Math.max(last[3], load) : load;
      result[result.length - 1] = [last[0], endSeconds, kind, most];
    } else result.push([startSeconds, endSeconds, kind, load]);
  }
  const time = rounding(finest);
  return result.map(([start, end, kind, load]) => [time(start), time(end), kind, Math.round(load * 100) / 100]);
}

/** Returns a function that rounds times to the visible precision: hundredths of a second, or finer if the whole job is short. */
function rounding(finest: number): (seconds: number) => number {
  const scale = 10 ** (finest > 0 ? Math.max(2, Math.ceil(-Math.log10(finest))) : 2);
  return (seconds) => Math.round(seconds * scale) / scale;
}

/** Returns the first and last GPU of each engine. */
function gpusOf(engines: readonly EngineResult[]): [first: number, last: number][] {
  let next = 0;
  return engines.map(({ gpus }) => {
    next += gpus;
    return [next - gpus, next - 1];
  });
}

/** Returns the label of a row: the numbers of adjacent GPUs, or otherwise how many of all GPUs; and whether it has several engines. */
function labelOf({ indices }: AlikeEngines, gpus: readonly (readonly [number, number])[]): string {
  const [first, last] = [gpus[indices[0]!]![0], gpus[indices.at(-1)!]![1]];
  const count = indices.reduce((sum, index) => sum + gpus[index]![1] - gpus[index]![0] + 1, 0);
  if (first === last) return `GPU ${first}`;
  const alike = indices.length > 1 ? ' alike' : '';
  return last - first + 1 === count ? `GPU ${first}–${last}${alike}` : `${count} of ${gpus.at(-1)![1] + 1} GPUs`;
}

function runData(run: RunResult, label: string): RunData {
  const running = run.engines.flatMap((engine) => engine.timeline.map((segment) => segment.running));
  const mostRunning = running.reduce((most, one) => Math.max(most, one), 1);
  const gpus = gpusOf(run.engines);
  return {
    scheduler: run.scheduler,
    label,
    totalSeconds: run.totalSeconds,
    engines: alikeEngines(run.engines, run.totalSeconds).map((one) => ({
      label: labelOf(one, gpus),
      bars: bars(one.shown.timeline, mostRunning, run.totalSeconds),
      bubbleRatio: one.shown.bubbleRatio,
    })),
    steps: run.steps.map((step) => ({
      kind: step.kind,
      startSeconds: step.startSeconds,
      endSeconds: step.endSeconds,
      rollout: step.rolloutSeconds,
      reward: step.rewardSeconds,
      reference: step.referenceSeconds,
      train: step.trainSeconds,
      sync: step.syncSeconds,
      queueDepth: step.queueDepth,
    })),
    lengthQuantiles: run.lengthQuantiles,
  };
}

/** Returns the waterfall from a baseline step to a step of the best scheduler; variants that change nothing are left out. */
function waterfallOf(comparison: ComparisonResult): WaterfallBar[] {
  const { schedulers } = comparison;
  const best = bestOf(schedulers);
  const [baseline] = schedulers;
  if (baseline === undefined || best === undefined) return [];
  const variants = schedulers.filter((one) => one.variant !== undefined && !isIdle(one, comparison));
  const ways = best.variant === undefined ? [best] : variants;
  let at = baseline.stepSeconds.value;
  const steps = ways.map((one): WaterfallBar => {
    const from = at;
    at = one.stepSeconds.value;
    return { label: one.variant?.adds ?? one.label, from, to: at };
  });
  const whole = best.variant?.ablation ?? `with ${best.label}`;
  return [
    { label: baseline.label, from: 0, to: baseline.stepSeconds.value },
    ...steps,
    { label: whole, from: 0, to: at },
  ];
}

/** Returns the first run of every scheduler of a comparison, for charts. */
export function workloadData(comparison: ComparisonResult): WorkloadData {
  const { workload, schedulers } = comparison;
  const best = bestOf(schedulers);
  return {
    name: workload.name,
    runs: schedulers.map((one) => runData(one.runs[0]!, one.label)),
    after: best === undefined ? 0 : schedulers.indexOf(best),
    waterfall: waterfallOf(comparison),
  };
}
