/** Bars for each GPU: how even a plan is. */
import { axis, colour, legend, legendRows, tooltip } from '../../../../src/pages/kit/chart-style.ts';
import type { LoadsData } from '../worker/messages.ts';

const colours = ['overhead', 'reward', 'accent'];

/** Seconds of the shards of each GPU, a bar for each scheduler. */
export function loadsChart({ devices, runs }: LoadsData, width: number) {
  const labels = runs.map((run) => run.label);
  return {
    grid: { left: 56, right: 20, top: 44 + 20 * (legendRows(labels, width) - 1), bottom: 44 },
    legend: legend(labels, 'boxes'),
    tooltip: tooltip({
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      valueFormatter: (value: number) => `${value.toFixed(2)} s`,
    }),
    xAxis: axis({
      type: 'category',
      name: 'GPU',
      nameLocation: 'middle',
      nameGap: 26,
      data: Array.from({ length: devices }, (_, device) => `${device}`),
    }),
    yAxis: axis({ type: 'value', name: 'seconds' }),
    series: runs.map(({ label, seconds }, index) => ({
      name: label,
      type: 'bar',
      itemStyle: { color: colour(colours[index % colours.length]!) },
      data: [...seconds],
    })),
  };
}
