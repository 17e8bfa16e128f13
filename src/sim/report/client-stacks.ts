/** Charts with one bar for each scheduler, in parts. */
import { axis, colour, duration, legend, legendHeight, tooltipBeside } from './client-style.ts';

/** A part of every bar: its name, and a colour of the style sheet. */
export type StackPart = readonly [name: string, colour: string];

/** A bar: its label, and seconds of each part. */
export interface Stack {
  readonly label: string;
  readonly parts: readonly number[];
}

/** Bars in parts, over seconds. */
export function stacksChart(parts: readonly StackPart[], stacks: readonly Stack[], width = 1200) {
  const names = parts.map(([name]) => name);
  return {
    grid: { left: 136, right: 28, top: 16 + legendHeight(names, width), bottom: 44 },
    legend: legend(names, 'boxes'),
    tooltip: tooltipBeside({
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      valueFormatter: (value: number) => duration(value),
    }),
    xAxis: axis({ type: 'value', name: 'seconds', nameLocation: 'middle', nameGap: 26 }),
    yAxis: axis({ type: 'category', inverse: true, data: stacks.map((one) => one.label), axisTick: { show: false } }),
    series: parts.map(([name, fill], part) => ({
      name,
      type: 'bar',
      stack: 'all',
      itemStyle: { color: colour(fill) },
      data: stacks.map((one) => one.parts[part]),
    })),
  };
}

/** Returns the pixels that this many bars need. */
export const stacksHeight = (bars: number): number => 112 + 26 * bars;
