/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Runs in the reader's browser: draws the charts of a report from the data in it, in the reader's colours. */
import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import {
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { activities, type Bar, type RunData, type WorkloadData } from './data.ts';

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
  CanvasRenderer,
]);

const workloads: WorkloadData[] = JSON.parse(document.getElementById('data')!.textContent!);

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const minutes = (seconds: number): string =>
  seconds >= 7200
    ? `${(seconds / 3600).toFixed(1)} h`
    : seconds >= 120
      ? `${(seconds / 60).toFixed(1)} min`
      : `${Math.round(seconds)} s`;

function axis(extra: object = {}) {
  const line = { lineStyle: { color: colour('line') } };
  return {
    axisLine: line,
    splitLine: line,
    axisLabel: { color: colour('soft') },
    nameTextStyle: { color: colour('soft') },
    ...extra,
  };
}

const tooltip = () => ({
  confine: true,
  backgroundColor: colour('panel'),
  borderColor: colour('line'),
  textStyle: { color: colour('ink') },
});
const legend = (data: string[]) => ({ data, top: 4, textStyle: { color: colour('ink') } });

/** A timeline begins with the first rounds, up to the first long one; the rest is a matter of zooming. */
function firstWindow(run: RunData): number {
  const long = run.steps.findIndex((step) => step.kind === 'long');
  return run.steps[Math.min(run.steps.length - 1, Math.max(long + 1, 5))]!.endSeconds;
}

function timeline(run: RunData, until: number, last: number): echarts.EChartsCoreOption {
  const rows = run.engines.flatMap((engine, row) => engine.bars.map((bar) => [row, ...bar]));
  const colours = activities.map(colour);
  // Without short rounds beside them, long ones are nothing particular.
  const mixed = run.steps.some((step) => step.kind === 'short');
  const longRounds = run.steps
    .filter((step) => mixed && step.kind === 'long')
    .map((step) => [{ xAxis: step.startSeconds }, { xAxis: step.endSeconds }]);
  return {
    grid: { left: 72, right: 16, top: 12, bottom: 64 },
    tooltip: {
      ...tooltip(),
      formatter: ({ value }: { value: [number, ...Bar] }) => {
        const [row, start, end, activity, load] = value;
        const what = activities[activity]!;
        const share = what === 'rollout' ? `, up to ${Math.round(load * 100)} % of the most sequences` : '';
        return `${run.engines[row]!.label}: ${what}${share}<br>${minutes(start)} to ${minutes(end)}`;
      },
    },
    xAxis: axis({
      type: 'value',
      min: 0,
      max: last,
      axisLabel: { color: colour('soft'), formatter: minutes },
      splitLine: { show: false },
    }),
    yAxis: axis({
      type: 'category',
      inverse: true,
      data: run.engines.map((engine) => engine.label),
      axisTick: { show: false },
      splitLine: { show: false },
    }),
    dataZoom: [
      {
        type: 'slider',
        bottom: 10,
        height: 22,
        startValue: 0,
        endValue: until,
        labelFormatter: minutes,
        textStyle: { color: colour('soft') },
        filterMode: 'weakFilter',
      },
      { type: 'inside', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl' },
    ],
    series: [
      {
        type: 'custom',
        data: rows,
        encode: { x: [1, 2], y: 0 },
        clip: true,
        markArea: { silent: true, itemStyle: { color: colour('long') }, data: longRounds },
        renderItem: (
          _params: unknown,
          api: { value(i: number): number; coord(p: number[]): number[]; size(p: number[]): number[] },
        ) => {
          const [x, y] = api.coord([api.value(1), api.value(0)]) as [number, number];
          const [right] = api.coord([api.value(2), api.value(0)]) as [number];
          const height = api.size([0, 1])[1]! * 0.78;
          const shape = { x, y: y - height / 2, width: Math.max(0.6, right - x), height };
          return { type: 'rect', shape, style: { fill: colours[api.value(3)], opacity: 0.25 + 0.75 * api.value(4) } };
        },
      },
    ],
  };
}

function steps(data: WorkloadData): echarts.EChartsCoreOption {
  const parts = ['rollout', 'reward', 'train', 'sync'] as const;
  const longest = Math.max(...data.runs.map((run) => run.steps.length));
  const opacity = (index: number) => (index === 0 ? 0.55 : 1);
  return {
    grid: { left: 56, right: 16, top: 40, bottom: 40 },
    legend: legend([...parts]),
    tooltip: { ...tooltip(), trigger: 'axis', valueFormatter: (value: number) => `${Number(value ?? 0).toFixed(1)} s` },
    xAxis: axis({
      type: 'category',
      name: 'step',
      nameLocation: 'middle',
      nameGap: 24,
      data: Array.from({ length: longest }, (_, step) => `${step}`),
    }),
    yAxis: axis({ type: 'value', name: 's' }),
    series: data.runs.flatMap((run, index) =>
      parts.map((part) => ({
        name: part,
        type: 'bar',
        stack: run.label,
        itemStyle: { color: colour(part), opacity: opacity(index) },
        data: run.steps.map((step) => step[part]),
      })),
    ),
  };
}

function lines(
  data: WorkloadData,
  x: object,
  y: object,
  points: (run: RunData) => (number | string)[][],
  step: boolean,
): echarts.EChartsCoreOption {
  const names = ['train', 'rollout', 'reward', 'sync'];
  return {
    grid: { left: 56, right: 16, top: 40, bottom: 40 },
    legend: legend(data.runs.map((run) => run.label)),
    tooltip: { ...tooltip(), trigger: 'axis' },
    xAxis: axis({ nameLocation: 'middle', nameGap: 24, ...x }),
    yAxis: axis(y),
    series: data.runs.map((run, index) => ({
      name: run.label,
      type: 'line',
      showSymbol: false,
      ...(step ? { step: 'end' } : {}),
      lineStyle: { width: 2, type: index === 0 ? 'dashed' : 'solid' },
      color: colour(names[index % names.length]!),
      data: points(run),
    })),
  };
}

function option(element: HTMLElement): echarts.EChartsCoreOption {
  const data = workloads[Number(element.dataset.workload)]!;
  const share = { type: 'value', min: 0, max: 100, name: '% of responses' };
  switch (element.dataset.chart) {
    case 'timeline': {
      // One scale for all schedulers of a workload: what is shorter looks shorter.
      const until = Math.max(...data.runs.map(firstWindow));
      const last = Math.max(...data.runs.map((run) => run.totalSeconds));
      return timeline(data.runs[Number(element.dataset.run)]!, until, last);
    }
    case 'steps':
      return steps(data);
    case 'lengths':
      return lines(
        data,
        { type: 'log', name: 'tokens' },
        share,
        (run) => run.lengthQuantiles.map((tokens, at) => [Math.max(1, tokens), at]),
        false,
      );
    default:
      return lines(
        data,
        { type: 'category', name: 'step' },
        { type: 'value' },
        (run) => run.steps.map((step, at) => [`${at}`, step.queueDepth]),
        true,
      );
  }
}

const charts: { chart: echarts.ECharts; element: HTMLElement }[] = [];
for (const element of document.querySelectorAll<HTMLElement>('.chart')) {
  if (element.dataset.chart === 'timeline') {
    const rows = workloads[Number(element.dataset.workload)]!.runs[Number(element.dataset.run)]!.engines.length;
    element.style.height = `${Math.min(720, 100 + 20 * rows)}px`;
  }
  charts.push({ chart: echarts.init(element), element });
}
const draw = () => {
  for (const { chart, element } of charts)
    chart.setOption({ animation: false, backgroundColor: 'transparent', ...option(element) }, true);
};
draw();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
addEventListener('resize', () => {
  for (const { chart } of charts) chart.resize();
});
document.documentElement.dataset.drawn = String(charts.length);
