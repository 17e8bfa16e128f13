/** The main chart of a workload: both runs (before and after) on one axis, and the steps from the first time to the second. */

import type { Bar, RunData, WorkloadData } from '../../sim/report/data.ts';
import { widthOf } from '../kit/bars.ts';
import { axis, colour, tooltipBeside } from '../kit/chart-style.ts';
import { measured } from '../kit/durations.ts';
import { ganttChart, roomOf } from '../kit/gantt.ts';
import { describeBar, kindColours, roundBars } from './timeline.ts';

const rowHeight = 24;
/** Most engine rows per run, so that both runs fit on the first screen. */
const mostEngines = 2;

/** Returns both runs, with the rows to show. */
function shown({ runs, after }: WorkloadData): { run: RunData; engines: number }[] {
  const both = after === 0 ? [runs[0]!] : [runs[0]!, runs[after]!];
  return both.map((run) => ({ run, engines: Math.min(mostEngines, run.engines.length) }));
}

/** Returns the height of the chart with both runs, in pixels. */
export const argumentHeight = (data: WorkloadData): number =>
  44 + shown(data).reduce((rows, { engines }) => rows + rowHeight * (engines + 1), 0);

const left = 112;
/** Every so many rounds are numbered: the first of these that fits. */
const usualStrides = [1, 5, 10, 20, 50, 100];

/** Returns every how many rounds of a run there is room for a number, if the whole job takes `lastSeconds`. */
function strideOf({ steps }: RunData, lastSeconds: number, width: number): number {
  const middles = steps.map((step) => (step.startSeconds + step.endSeconds) / 2);
  const least = (widthOf(`${steps.length - 1}`) * lastSeconds) / roomOf(width, left);
  const fits = (stride: number): boolean =>
    middles.every(
      (middle, index) => index % stride !== 0 || index < stride || middle - middles[index - stride]! >= least,
    );
  return usualStrides.find(fits) ?? steps.length;
}

/** Draws the whole job in both runs, on one scale. */
export function argumentChart(data: WorkloadData, width = 1200) {
  const rows: string[] = [];
  const bars: { run: RunData; row: number; engine: number; index: number; bar: Bar }[] = [];
  for (const { run, engines } of shown(data)) {
    roundBars(run).forEach((bar, index) => void bars.push({ run, row: rows.length, engine: -1, index, bar }));
    rows.push(rows.length === 0 ? run.label : data.waterfall.at(-1)!.label);
    for (const [engine, one] of run.engines.slice(0, engines).entries()) {
      for (const bar of one.bars) bars.push({ run, row: rows.length, engine, index: 0, bar });
      rows.push(one.label);
    }
  }
  const lastSeconds = Math.max(...shown(data).map(({ run }) => run.totalSeconds));
  const strides = new Map(shown(data).map(({ run }) => [run, strideOf(run, lastSeconds, width)]));
  return ganttChart({
    rows,
    left,
    width,
    lastSeconds,
    bars: bars.map(({ run, row, engine, index, bar: [start, end, kind, load] }) => ({
      row,
      start,
      end,
      colour: kindColours[kind]!,
      opacity: 0.3 + 0.7 * load,
      ...(engine < 0 ? { gap: 1 } : {}),
      ...(engine < 0 && index % strides.get(run)! === 0 ? { name: `${index}`, isNameWide: strides.get(run)! > 1 } : {}),
    })),
    describe: (barIndex) => {
      const { run, engine, index, bar } = bars[barIndex]!;
      return describeBar(run, engine, index, bar);
    },
  });
}

const barHeight = 30;
/** Returns the height of the waterfall chart, in pixels. */
export const waterfallHeight = ({ waterfall }: WorkloadData): number => 40 + barHeight * waterfall.length;

/** Draws the seconds of a baseline step, the seconds that each mechanism saves, and the seconds left. */
export function waterfallChart({ waterfall }: WorkloadData, width = 1200) {
  const isWhole = (index: number): boolean => index === 0 || index === waterfall.length - 1;
  const change = (index: number): string => {
    const { from, to } = waterfall[index]!;
    const off = to - from;
    return isWhole(index) ? `${to.toFixed(0)} s` : `${off > 0 ? '+' : '−'}${Math.abs(off).toFixed(1)} s`;
  };
  const fill = (index: number): string => {
    const { from, to } = waterfall[index]!;
    if (isWhole(index)) return index === 0 ? colour('overhead') : colour('accent');
    return to <= from ? colour('reward') : colour('train');
  };
  return {
    grid: { left: 112, right: 64, top: 4, bottom: 28 },
    tooltip: tooltipBeside({
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const { label, from, to } = waterfall[dataIndex]!;
        return isWhole(dataIndex)
          ? `${label}: a step takes ${measured(to)}`
          : `${label}: ${change(dataIndex)}, from ${measured(from)} to ${measured(to)}`;
      },
    }),
    xAxis: axis({
      type: 'value',
      min: 0,
      splitNumber: width < 500 ? 2 : 5,
      axisLabel: { color: colour('soft'), formatter: '{value} s', hideOverlap: true },
    }),
    yAxis: axis({
      type: 'category',
      inverse: true,
      data: waterfall.map(({ label }) => label),
      axisTick: { show: false },
      axisLabel: { color: colour('ink'), width: 100, overflow: 'truncate' },
    }),
    series: [
      {
        type: 'bar',
        stack: 'way',
        silent: true,
        itemStyle: { color: 'transparent' },
        data: waterfall.map((one) => Math.min(one.from, one.to)),
      },
      {
        type: 'bar',
        stack: 'way',
        barWidth: '62%',
        data: waterfall.map((one, index) => ({
          value: Math.abs(one.to - one.from),
          itemStyle: { color: fill(index) },
          label: { show: true, position: 'right', color: colour('ink'), formatter: change(index) },
        })),
      },
    ],
  };
}
