/** Charts of stacked bars, one bar per scheduler. */
import { axis, colour, legend, legendHeight, tooltipBeside } from '../kit/chart-style.ts';
import { measured } from '../kit/durations.ts';

/** A layer that every bar has: its name, and a colour of the style sheet. */
export type StackLayer = readonly [name: string, colour: string];

/** A bar: its label, and the seconds of each layer. */
export interface Stack {
  readonly label: string;
  readonly parts: readonly number[];
}

/** Returns a chart of stacked bars; the x axis is seconds. */
export function stacksChart(layers: readonly StackLayer[], stacks: readonly Stack[], width = 1200) {
  const names = layers.map(([name]) => name);
  return {
    grid: { left: 136, right: 28, top: 16 + legendHeight(names, width), bottom: 44 },
    legend: legend(names, 'boxes'),
    tooltip: tooltipBeside({
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      valueFormatter: (value: number) => measured(value),
    }),
    xAxis: axis({ type: 'value', name: 'seconds', nameLocation: 'middle', nameGap: 26 }),
    yAxis: axis({ type: 'category', inverse: true, data: stacks.map((one) => one.label), axisTick: { show: false } }),
    series: layers.map(([name, fill], layer) => ({
      name,
      type: 'bar',
      stack: 'all',
      itemStyle: { color: colour(fill) },
      data: stacks.map((one) => one.parts[layer]),
    })),
  };
}

/** Returns the height of a chart with this many bars, in pixels. */
export const stacksHeight = (bars: number): number => 112 + 26 * bars;
