/** Step times, length distribution and queue depth. */
import { axis, colour, legend, legendRows, tooltip } from './client-style.ts';
import type { RunData, WorkloadData } from './data.ts';

const parts = ['rollout', 'reward', 'reference', 'train', 'sync'] as const;
const grid = { left: 56, right: 20, top: 44, bottom: 44 };
const named = (name: string, extra: object) => axis({ name, nameLocation: 'middle', nameGap: 26, ...extra });

/** Steps of a run that have long rounds, if it has short ones as well. */
function longSteps(run: RunData): number[] {
  const long = run.steps.flatMap((step, index) => (step.kind === 'long' ? [index] : []));
  return long.length === run.steps.length ? [] : long;
}

/** Stacked bars, one a step and scheduler; the baseline is pale, long rounds of the others have a band behind them. */
export function stepsChart(data: WorkloadData) {
  const steps = Math.max(...data.runs.map((run) => run.steps.length));
  const bands = [...new Set(data.runs.flatMap(longSteps))].map((step) => [{ xAxis: step }, { xAxis: step }]);
  return {
    grid,
    legend: legend(parts, 'boxes'),
    tooltip: tooltip({
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: (points: { axisValue: string }[]) => {
        const step = Number(points[0]?.axisValue ?? 0);
        const lines = data.runs.map((run) => {
          const one = run.steps[step];
          if (one === undefined) return `${run.label}: done`;
          const seconds = parts.map((part) => `${part} ${one[part].toFixed(1)}`).join(', ');
          const kind = longSteps(run).includes(step) ? ' (long round)' : '';
          return `${run.label}${kind}: <b>${(one.endSeconds - one.startSeconds).toFixed(1)} s</b><br>${seconds}`;
        });
        return [`step ${step}`, ...lines].join('<br>');
      },
    }),
    xAxis: named('step', { type: 'category', data: Array.from({ length: steps }, (_, step) => `${step}`) }),
    yAxis: axis({ type: 'value', name: 'seconds' }),
    series: data.runs.flatMap((run, index) =>
      parts.map((part) => ({
        name: part,
        type: 'bar',
        stack: run.label,
        itemStyle: { color: colour(part), opacity: index === 0 ? 0.45 : 1 },
        data: run.steps.map((step) => step[part]),
        ...(index === 0 && part === 'rollout'
          ? { markArea: { silent: true, itemStyle: { color: colour('band') }, data: bands } }
          : {}),
      })),
    ),
  };
}

/**
 * One line a scheduler: the baseline dashed, so that lines are told apart without colours. A legend of several rows
 * moves the chart down.
 */
function lines(data: WorkloadData, width: number, points: (run: RunData) => (number | string)[][], extra: object) {
  const colours = ['soft', 'accent', 'train', 'reward', 'long'];
  const labels = data.runs.map((run) => run.label);
  return {
    grid: { ...grid, top: grid.top + 20 * (legendRows(labels, width) - 1) },
    legend: legend(labels, 'lines'),
    series: data.runs.map((run, index) => ({
      name: run.label,
      type: 'line',
      symbol: 'none',
      lineStyle: { width: 2, type: index === 0 ? 'dashed' : 'solid' },
      color: colour(colours[index % colours.length]!),
      data: points(run),
      ...extra,
    })),
  };
}

/** The share of trained responses up to a length, over a logarithmic axis. */
export function lengthsChart(data: WorkloadData, width: number) {
  const shortest = Math.max(1, Math.min(...data.runs.map((run) => run.lengthQuantiles[1] ?? 1)));
  const floor = 10 ** Math.floor(Math.log10(shortest));
  const format = (value: unknown): string =>
    typeof value === 'number' ? Math.round(value).toLocaleString('en-US') : '';
  return {
    ...lines(data, width, (run) => run.lengthQuantiles.map((tokens, at) => [Math.max(floor, tokens), at]), {}),
    tooltip: tooltip({ trigger: 'item' }),
    xAxis: named('tokens', {
      type: 'log',
      min: floor,
      axisPointer: { show: true, label: { formatter: (p: { value: unknown }) => `${format(p.value)} tokens` } },
    }),
    yAxis: axis({
      type: 'value',
      min: 0,
      max: 100,
      name: '% of responses',
      axisPointer: { show: true, label: { formatter: (p: { value: unknown }) => `${format(p.value)} %` } },
    }),
  };
}

/** Prompts that wait in the long-prompt queue when each step ends. */
export function queueChart(data: WorkloadData, width: number) {
  const steps = Math.max(...data.runs.map((run) => run.steps.length));
  return {
    ...lines(data, width, (run) => run.steps.map((step, at) => [`${at}`, step.queueDepth]), { step: 'middle' }),
    tooltip: tooltip({ trigger: 'axis' }),
    xAxis: named('step', { type: 'category', data: Array.from({ length: steps }, (_, step) => `${step}`) }),
    yAxis: axis({ type: 'value', name: 'prompts', minInterval: 1 }),
  };
}
