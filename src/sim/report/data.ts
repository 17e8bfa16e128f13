/** What a report draws, made small: a timeline has thousands of segments, a chart has a thousand pixels. */
import type { ComparisonResult, RunResult, Segment } from '../result.ts';

/** Start and end in seconds, what it is (index into `activities`), and running sequences at most (0 to 1). */
export type Bar = readonly [start: number, end: number, activity: number, load: number];

/** Kinds of bars, in the order of their indices. */
export const activities = ['rollout', 'train', 'sync', 'reward', 'overhead', 'reference'] as const;

/** One run of one scheduler, as it is drawn. */
export interface RunData {
  readonly scheduler: string;
  readonly label: string;
  readonly totalSeconds: number;
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

/** One workload, as it is drawn. */
export interface WorkloadData {
  readonly name: string;
  readonly runs: readonly RunData[];
}

/** Shades of load: more would not be told apart. */
const shades = 6;

/**
 * A timeline, made small.
 *
 * @param kinds - what a bar may be, in the order of the indices
 */
export function bars(
  timeline: readonly Segment[],
  mostRunning: number,
  totalSeconds: number,
  kinds: readonly string[] = activities,
): Bar[] {
  const result: Bar[] = [];
  // Shorter than this is not seen even when zoomed in twenty times.
  const finest = totalSeconds / 20_000;
  for (const { startSeconds, endSeconds, activity, running } of timeline) {
    if (activity === 'rollout' && running === 0) continue;
    const load = activity === 'rollout' ? Math.ceil((running / mostRunning) * shades) / shades : 1;
    const kind = kinds.indexOf(activity);
    const last = result[result.length - 1];
    const touches = last !== undefined && startSeconds - last[1] <= finest && last[2] === kind;
    // Short pieces are put together until they can be seen; what is long keeps a shade of its own.
    if (touches && (last[3] === load || last[1] - last[0] < finest)) {
      const most = endSeconds - startSeconds < finest ? Math.max(last[3], load) : load;
      result[result.length - 1] = [last[0], endSeconds, kind, most];
    } else result.push([startSeconds, endSeconds, kind, load]);
  }
  const time = rounding(finest);
  return result.map(([start, end, kind, load]) => [time(start), time(end), kind, Math.round(load * 100) / 100]);
}

/** Rounds times to what can be seen: hundredths of a second, and finer where the whole job is short. */
function rounding(finest: number): (seconds: number) => number {
  const scale = 10 ** (finest > 0 ? Math.max(2, Math.ceil(-Math.log10(finest))) : 2);
  return (seconds) => Math.round(seconds * scale) / scale;
}

function runData(run: RunResult, label: string): RunData {
  const running = run.engines.flatMap((engine) => engine.timeline.map((segment) => segment.running));
  const mostRunning = running.reduce((most, one) => Math.max(most, one), 1);
  let gpu = 0;
  return {
    scheduler: run.scheduler,
    label,
    totalSeconds: run.totalSeconds,
    engines: run.engines.map((engine) => {
      const first = gpu;
      gpu += engine.gpus;
      const name = engine.gpus === 1 ? `GPU ${first}` : `GPU ${first}–${gpu - 1}`;
      return {
        label: name,
        bars: bars(engine.timeline, mostRunning, run.totalSeconds),
        bubbleRatio: engine.bubbleRatio,
      };
    }),
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

/** The first run of every scheduler of a comparison. */
export function workloadData(comparison: ComparisonResult): WorkloadData {
  return {
    name: comparison.workload.name,
    runs: comparison.schedulers.map((one) => runData(one.runs[0]!, one.label)),
  };
}
