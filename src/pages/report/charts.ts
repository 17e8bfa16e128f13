/** Charts of step times, length distribution and queue depth. */

import type { RunData, WorkloadData } from '../../sim/report/data.ts';
import { axis, colour, legend, legendHeight, tooltipBeside } from '../kit/chart-style.ts';

const stages = ['rollout', 'reward', 'reference', 'train', 'sync'] as const;
/** What legends call them. */
const stageNames = {
  rollout: 'rollout',
  reward: 'rewards',
  reference: 'reference model',
  train: 'training',
  sync: 'weight sync',
} as const;
const namesOfStages = Object.values(stageNames);
const grid = { left: 56, right: 20, bottom: 44 };
/** Returns a chart's grid below the legend, with room for the axis name. */
const below = (names: readonly string[], width: number) => ({ ...grid, top: 26 + legendHeight(names, width) });
const named = (name: string, extra: object) => axis({ name, nameLocation: 'middle', nameGap: 26, ...extra });

/** Returns the steps with long rounds, if the run also has short ones. */
function longSteps(run: RunData): number[] {
  const long = run.steps.flatMap((step, index) => (step.kind === 'long' ? [index] : []));
  return long.length === run.steps.length ? [] : long;
}

/**
 * Draws two stacked bars for each step: on the left, pale, the baseline; on the right the presented scheduler, whose long rounds
 * have a coloured background.
 */
export function stepsChart({ runs: all, after }: WorkloadData, width = 1200) {
  const runs = after === 0 ? [all[0]!] : [all[0]!, all[after]!];
  const steps = Math.max(...runs.map((run) => run.steps.length));
  const bands = [...new Set(runs.flatMap(longSteps))].map((step) => [{ xAxis: step }, { xAxis: step }]);
  return {
    grid: below(namesOfStages, width),
    legend: legend(namesOfStages, 'boxes'),
    tooltip: tooltipBeside({
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: (points: { axisValue: string }[]) => {
        const step = Number(points[0]?.axisValue ?? 0);
        const lines = runs.map((run) => {
          const one = run.steps[step];
          if (one === undefined) return `${run.label}: done`;
          const seconds = stages.map((stage) => `${stageNames[stage]} ${one[stage].toFixed(1)}`).join(', ');
          const kind = longSteps(run).includes(step) ? ' (long round)' : '';
          return `${run.label}${kind}: <b>${(one.endSeconds - one.startSeconds).toFixed(1)} s</b><br>${seconds}`;
        });
        return [`step ${step}`, ...lines].join('<br>');
      },
    }),
    xAxis: named('step', { type: 'category', data: Array.from({ length: steps }, (_, step) => `${step}`) }),
    yAxis: axis({ type: 'value', name: 'seconds' }),
    series: runs.flatMap((run, index) =>
      stages.map((stage) => ({
        name: stageNames[stage],
        type: 'bar',
        stack: run.label,
        itemStyle: { color: colour(stage), opacity: index === 0 ? 0.45 : 1 },
        data: run.steps.map((step) => step[stage]),
        ...(index === 0 && stage === 'rollout'
          ? { markArea: { silent: true, itemStyle: { color: colour('band') }, data: bands } }
          : {}),
      })),
    ),
  };
}

/** Merges runs with equal curves into one line that has all their names. */
function distinct(runs: readonly RunData[], points: (run: RunData) => readonly number[]): RunData[] {
  const groups: RunData[][] = [];
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= 0.02 * Math.max(1, a, b);
  for (const run of runs) {
    const mine = points(run);
    const same = groups.find(([first]) => {
      const theirs = points(first!);
      return theirs.length === mine.length && theirs.every((one, at) => near(one, mine[at]!));
    });
    if (same === undefined) groups.push([run]);
    else same.push(run);
  }
  return groups.map((group) => ({ ...group[0]!, label: namedTogether(group.map((one) => one.label)) }));
}

const namedTogether = (labels: readonly string[]): string =>
  labels.length < 3 ? labels.join(', ') : `${labels[0]} and ${labels.length - 1} more, alike`;

/**
 * Draws one line per scheduler: the baseline is broad and grey, the others differ even without colours. If the legend needs
 * several rows, the chart moves down.
 */
function lines(
  runs: readonly RunData[],
  width: number,
  points: (run: RunData) => (number | string)[][],
  extra: object,
) {
  const colours = ['overhead', 'accent', 'train', 'reward', 'long'];
  const dashes = ['solid', 'dashed', 'dotted', [8, 3, 2, 3]];
  const labels = runs.map((run) => run.label);
  return {
    grid: below(labels, width),
    legend: legend(labels, 'lines'),
    series: runs.map((run, index) => ({
      name: run.label,
      type: 'line',
      symbol: 'none',
      // The baseline is broad, so that a curve on top of it remains visible.
      lineStyle: index === 0 ? { width: 6 } : { width: 2, type: dashes[(index - 1) % dashes.length] },
      color: colour(colours[index % colours.length]!),
      data: points(run),
      ...extra,
    })),
  };
}

/** Draws the share of trained responses above each length, on logarithmic axes: schedulers differ in the tail. */
export function lengthsChart(data: WorkloadData, width: number) {
  const runs = distinct(data.runs, (run) => run.lengthQuantiles);
  const shortest = Math.max(1, Math.min(...runs.map((run) => run.lengthQuantiles[1] ?? 1)));
  const floor = 10 ** Math.floor(Math.log10(shortest));
  const format = (value: unknown): string =>
    typeof value === 'number' ? Math.round(value).toLocaleString('en-US') : '';
  // No response is longer than the longest one, and a logarithmic axis has no 0: this point is drawn at half a percent.
  const longer = (at: number, count: number): number => Math.max(0.5, 100 * (1 - at / (count - 1)));
  return {
    ...lines(
      runs,
      width,
      (run) =>
        run.lengthQuantiles.map((tokens, at) => [Math.max(floor, tokens), longer(at, run.lengthQuantiles.length)]),
      {},
    ),
    tooltip: tooltipBeside({ trigger: 'item' }),
    xAxis: named('tokens', {
      type: 'log',
      min: floor,
      axisPointer: { show: true, label: { formatter: (p: { value: unknown }) => `${format(p.value)} tokens` } },
    }),
    yAxis: axis({
      type: 'log',
      min: 0.5,
      max: 100,
      name: '% of responses are longer',
      nameTextStyle: { color: colour('soft'), align: 'left' },
      axisPointer: {
        show: true,
        label: { formatter: (p: { value: number }) => `${Number(p.value.toPrecision(2))} %` },
      },
    }),
  };
}

/** Draws the length of the long-prompt queue after each step. */
export function queueChart(data: WorkloadData, width: number) {
  const runs = distinct(data.runs, (run) => run.steps.map((step) => step.queueDepth));
  const steps = Math.max(...runs.map((run) => run.steps.length));
  return {
    ...lines(runs, width, (run) => run.steps.map((step, at) => [`${at}`, step.queueDepth]), { step: 'middle' }),
    tooltip: tooltipBeside({ trigger: 'axis' }),
    xAxis: named('step', { type: 'category', data: Array.from({ length: steps }, (_, step) => `${step}`) }),
    yAxis: axis({ type: 'value', name: 'prompts', minInterval: 1 }),
  };
}
