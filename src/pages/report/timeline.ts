/** Draws every engine over time: the activities of its GPUs, with the rounds above them. */

import { activities, type Bar, type RunData, type WorkloadData } from '../../sim/report/data.ts';
import { measured } from '../kit/durations.ts';
import { ganttChart } from '../kit/gantt.ts';

/** Kinds of bars: activities of engines, and rounds, which are no activity. */
const kinds = [...activities, 'short', 'long', 'round'];
/** Colours of the kinds, from the style sheet. */
export const kindColours = [...kinds.slice(0, -1), 'short'];
const rowHeight = 20;

/** Returns the height of the chart of a run, in pixels. */
export function timelineHeight(run: RunData): number {
  return Math.min(900, 104 + rowHeight * (run.engines.length + 1));
}

/**
 * Returns the end of the first visible window: it contains the first rounds, up to the first long one. The user can zoom to see the
 * rest.
 */
function firstWindow(run: RunData): number {
  const long = run.steps.findIndex((step) => step.kind === 'long');
  return run.steps[Math.min(run.steps.length - 1, Math.max(long + 1, 5))]!.endSeconds;
}

/** Returns the rounds as bars of the first row. If all rounds are of one kind, the kind is not shown. */
export function roundBars(run: RunData): Bar[] {
  const mixed = run.steps.some((step) => step.kind !== run.steps[0]!.kind);
  return run.steps.map(({ kind, startSeconds, endSeconds }) => [
    startSeconds,
    endSeconds,
    kinds.indexOf(mixed ? kind : 'round'),
    1,
  ]);
}

/** Returns the tooltip of a bar: of an engine by its index, or of a round if the index is negative. */
export function describeBar(run: RunData, engine: number, index: number, [start, end, kind, load]: Bar): string {
  const span = `${measured(end - start)} (${measured(start)} to ${measured(end)})`;
  if (engine < 0)
    return `${run.label}, step ${index}: ${kinds[kind] === 'round' ? '' : `${kinds[kind]} `}round<br>${span}`;
  const share = kinds[kind] === 'rollout' ? `, up to ${Math.round(load * 100)} % of the most running sequences` : '';
  return `${run.engines[engine]!.label}: ${kinds[kind]}${share}<br>${span}`;
}

/** Draws the timeline of one run. All runs of a workload share one scale. */
export function timelineChart(data: WorkloadData, which: number) {
  const run = data.runs[which]!;
  const bars: [row: number, index: number, bar: Bar][] = [
    ...roundBars(run).map((bar, index): [number, number, Bar] => [0, index, bar]),
    ...run.engines.flatMap((engine, row) => engine.bars.map((bar): [number, number, Bar] => [row + 1, 0, bar])),
  ];
  return ganttChart({
    rows: ['rounds', ...run.engines.map((engine) => engine.label)],
    lastSeconds: Math.max(...data.runs.map((one) => one.totalSeconds)),
    windowSeconds: Math.max(...data.runs.map(firstWindow)),
    bars: bars.map(([row, index, [start, end, kind, load]]) => ({
      row,
      start,
      end,
      colour: kindColours[kind]!,
      opacity: 0.3 + 0.7 * load,
      // Rounds have no gaps between them; a line of one pixel separates them.
      ...(row === 0
        ? { gap: 1, name: kinds[kind] === 'round' ? `step ${index}` : `${kinds[kind]} ${index}`, shortName: `${index}` }
        : {}),
    })),
    describe: (barIndex) => {
      const [row, index, bar] = bars[barIndex]!;
      return describeBar(run, row - 1, index, bar);
    },
  });
}
