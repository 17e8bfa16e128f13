/** Every engine over time: what its GPUs do, with the rounds above. */
import type { CustomSeriesOption } from 'echarts/charts';
import { graphic } from 'echarts/core';
import { axis, colour, duration, tooltip } from './client-style.ts';
import { activities, type Bar, type RunData, type WorkloadData } from './data.ts';

/** Kinds of bars: activities of engines, then rounds (which are no activity). */
const kinds = [...activities, 'short', 'long', 'round'];
const rowHeight = 20;

/** Pixels that the chart of a run needs. */
export function timelineHeight(run: RunData): number {
  return Math.min(900, 104 + rowHeight * (run.engines.length + 1));
}

/** A timeline begins with the first rounds, up to the first long one; the rest is a matter of zooming. */
function firstWindow(run: RunData): number {
  const long = run.steps.findIndex((step) => step.kind === 'long');
  return run.steps[Math.min(run.steps.length - 1, Math.max(long + 1, 5))]!.endSeconds;
}

/** Rounds as bars of the first row. Where all are of one kind, the kind says nothing. */
function roundBars(run: RunData): Bar[] {
  const mixed = run.steps.some((step) => step.kind !== run.steps[0]!.kind);
  return run.steps.map(({ kind, startSeconds, endSeconds }) => [
    startSeconds,
    endSeconds,
    kinds.indexOf(mixed ? kind : 'round'),
    1,
  ]);
}

function describe(run: RunData, row: number, index: number, [start, end, kind, load]: Bar): string {
  const span = `${duration(end - start)} (${duration(start)} to ${duration(end)})`;
  if (row === 0) return `step ${index}: ${kinds[kind] === 'round' ? '' : `${kinds[kind]} `}round<br>${span}`;
  const share = kinds[kind] === 'rollout' ? `, up to ${Math.round(load * 100)} % of the most running sequences` : '';
  return `${run.engines[row - 1]!.label}: ${kinds[kind]}${share}<br>${span}`;
}

/** The timeline of one run. One scale for all runs of a workload: what is shorter looks shorter. */
export function timelineChart(data: WorkloadData, which: number) {
  const run = data.runs[which]!;
  const last = Math.max(...data.runs.map((one) => one.totalSeconds));
  const [unit, seconds] = last >= 600 ? ['min', 60] : ['s', 1];
  const label = (value: number): string => `${Number(value.toFixed(2))} ${unit}`;
  const bars: [row: number, index: number, bar: Bar][] = [
    ...roundBars(run).map((bar, index): [number, number, Bar] => [0, index, bar]),
    ...run.engines.flatMap((engine, row) => engine.bars.map((bar): [number, number, Bar] => [row + 1, 0, bar])),
  ];
  const colours = [...kinds.slice(0, -1).map(colour), colour('short')];
  const ink = colour('ink');
  const renderItem: CustomSeriesOption['renderItem'] = (params, api) => {
    const [row, start, end, kind, load] = [0, 1, 2, 3, 4].map((dimension) => Number(api.value(dimension)));
    const [x, y] = api.coord([start!, row!]) as [number, number];
    const [right] = api.coord([end!, row!]) as [number];
    const height = (api.size!([0, 1]) as number[])[1]! * 0.8;
    // Rounds follow each other without gaps; a line of a pixel tells them apart.
    const gap = row === 0 ? 1 : 0;
    const view = params.coordSys as unknown as { x: number; y: number; width: number; height: number };
    const shape = graphic.clipRectByRect({ x, y: y - height / 2, width: Math.max(0.6, right - x - gap), height }, view);
    if (shape === undefined) return undefined;
    const rect = { type: 'rect' as const, shape, style: { fill: colours[kind!], opacity: 0.3 + 0.7 * load! } };
    const name = kinds[kind!] === 'round' ? `step ${params.dataIndex}` : kinds[kind!]!;
    if (row !== 0 || shape.width < 8 * name.length) return rect;
    const fill = name === 'long' ? '#14171b' : ink;
    return {
      ...rect,
      textContent: { type: 'text', style: { text: name, fill, fontSize: 11 } },
      textConfig: { position: 'inside' },
    };
  };
  return {
    grid: { left: 84, right: 24, top: 12, bottom: 68 },
    tooltip: tooltip({
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const [row, index, bar] = bars[dataIndex]!;
        return describe(run, row, index, bar);
      },
    }),
    xAxis: axis({
      type: 'value',
      min: 0,
      max: last / seconds,
      axisLabel: { color: colour('soft'), formatter: label, showMaxLabel: false, hideOverlap: true },
      splitLine: { show: false },
    }),
    yAxis: axis({
      type: 'category',
      inverse: true,
      data: ['rounds', ...run.engines.map((engine) => engine.label)],
      axisTick: { show: false },
      splitLine: { show: false },
    }),
    dataZoom: [
      {
        type: 'slider',
        bottom: 10,
        height: 24,
        startValue: 0,
        endValue: Math.max(...data.runs.map(firstWindow)) / seconds,
        labelFormatter: label,
        textStyle: { color: colour('soft') },
        borderColor: colour('line'),
        fillerColor: 'rgba(86,140,190,.25)',
        showDataShadow: false,
        brushSelect: false,
        filterMode: 'weakFilter',
      },
      { type: 'inside', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
    ],
    series: [
      {
        type: 'custom',
        data: bars.map(([row, , [start, end, kind, load]]) => [row, start / seconds, end / seconds, kind, load]),
        encode: { x: [1, 2], y: 0 },
        clip: true,
        renderItem,
      },
    ],
  };
}
