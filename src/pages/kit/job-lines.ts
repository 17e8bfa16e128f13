/** Draws lines over the time of a job. */
import { axis, colour, legend, legendHeight, tooltipBeside } from './chart-style.ts';
import type { Drawn } from './job-gantt.ts';
import { ago, timeAxis } from './job-time.ts';

/** A line over the bins. */
interface Line {
  readonly name: string;
  readonly values: readonly number[];
  readonly colour: string;
  readonly dash?: string;
}

/** Draws lines over time. */
export function linesChart({ timeline }: Drawn, lines: readonly Line[], width: number) {
  const { from, width: seconds, at } = timeline;
  const begin = from * seconds;
  const names = lines.map(({ name }) => name);
  return {
    grid: { left: 46, right: 16, top: 14 + legendHeight(names, width), bottom: 26 },
    legend: legend(names, 'lines'),
    tooltip: tooltipBeside({
      trigger: 'axis',
      formatter: (points: readonly { readonly dataIndex: number }[]) => {
        const index = points[0]?.dataIndex ?? 0;
        const values = lines.map(({ name, values: all }) => `${name}: ${all[index] ?? 0}`);
        return [`${ago(Math.max(0, at - begin - index * seconds))}`, ...values].join('\n');
      },
    }),
    xAxis: timeAxis(Math.max(at - begin, seconds), 1),
    yAxis: axis({ type: 'value', minInterval: 0 }),
    series: lines.map(({ name, values, colour: kind, dash = 'solid' }) => ({
      name,
      type: 'line',
      step: 'end',
      symbol: 'none',
      lineStyle: { width: 2, type: dash },
      color: colour(kind),
      // The last bin is not over.
      data: values.slice(0, -1).map((value, index) => [index * seconds, value]),
    })),
  };
}

/** Draws the deferred prompts, and the engines that idle while others work. */
export const queueLines = (drawn: Drawn, width: number) =>
  linesChart(
    drawn,
    [
      { name: 'put off', values: drawn.timeline.queue, colour: 'long' },
      { name: 'idle engines', values: drawn.timeline.idle, colour: 'train', dash: 'dashed' },
      { name: 'engines', values: drawn.timeline.engines, colour: 'overhead', dash: 'dotted' },
    ],
    width,
  );
