/** Charts of disaggregated pools: waits of the trainer, and both pools over time. */

import { type PoolBar, type PoolsData, poolActivities, trainerStages } from '../../sim/report/pools-data.ts';
import { measured } from '../kit/durations.ts';
import { ganttChart } from '../kit/gantt.ts';
import { stacksChart, stacksHeight } from './stacks.ts';

const stageColours = ['overhead', 'long', 'train', 'sync'];
const rowHeight = 24;

/** Draws waits and training time, one bar per scheduler. */
export const waitsChart = (data: PoolsData, width?: number) =>
  stacksChart(
    trainerStages.map((name, stage) => [name, stageColours[stage]!]),
    data.waits,
    width,
  );

/** Returns the height of the waits chart, in pixels. */
export const waitsHeight = (data: PoolsData): number => stacksHeight(data.waits.length);

/** Returns the height of the chart with both pools of all shown schedulers, in pixels. */
export const poolsHeight = (data: PoolsData): number => Math.min(1200, 88 + rowHeight * data.rows.length);

function describe(data: PoolsData, [row, start, end, activity, load]: PoolBar, index: number): string {
  const kind = poolActivities[activity]!;
  const span = `${measured(end - start)} (${measured(start)} to ${measured(end)})`;
  if (kind === 'round') return `${data.rows[row]}: round ${index}<br>${span}`;
  const share = kind === 'rollout' ? `, up to ${Math.round(load * 100)} % of the most running sequences` : '';
  return `${data.rows[row]}: ${kind}${share}<br>${span}`;
}

/** Draws the engines and the trainer of each shown scheduler, one scheduler below the other, on one axis. */
export function poolsChart(data: PoolsData) {
  // Each row counts its own rounds.
  const indices: number[] = [];
  const seen = new Map<number, number>();
  for (const [row, , , activity] of data.bars) {
    const index = seen.get(row) ?? 0;
    indices.push(index);
    if (poolActivities[activity] === 'round') seen.set(row, index + 1);
  }
  return ganttChart({
    rows: data.rows,
    left: 124,
    lastSeconds: data.lastSeconds,
    windowSeconds: data.windowSeconds,
    bars: data.bars.map(([row, start, end, activity, load], index) => {
      const kind = poolActivities[activity]!;
      const isRound = kind === 'round';
      return {
        row,
        start,
        end,
        colour: isRound ? 'short' : kind,
        opacity: 0.3 + 0.7 * load,
        // Rounds and updates have no gaps between them; a line of one pixel separates them.
        ...(kind === 'rollout' ? {} : { gap: 1 }),
        ...(isRound ? { name: `round ${indices[index]}` } : {}),
      };
    }),
    describe: (index) => describe(data, data.bars[index]!, indices[index]!),
  });
}
