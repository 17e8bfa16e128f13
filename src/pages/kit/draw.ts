/// <reference lib="dom" />
/** Puts charts into elements of a page, and draws them again. */
import { type ECharts, type EChartsCoreOption, init } from './echarts.ts';

/** Shows a chart in place of its former content. */
export function show(chart: ECharts, option: EChartsCoreOption): void {
  chart.setOption({ animation: false, backgroundColor: 'transparent', ...option }, true);
}

const charts = new Map<HTMLElement, { chart: ECharts; option: (width: number) => object }>();

/** Draws a chart into an element, or draws it anew. Texts are no HTML: ids may hold anything. */
export function draw(element: HTMLElement, height: number, option: (width: number) => object): void {
  element.style.height = `${height}px`;
  if (element.offsetParent === null) return;
  let one = charts.get(element);
  if (one === undefined) charts.set(element, (one = { chart: init(element), option }));
  one.option = option;
  one.chart.resize();
  redraw(one);
}

function redraw({ chart, option }: { chart: ECharts; option: (width: number) => object }): void {
  const made = option(chart.getWidth()) as { tooltip?: object };
  const tooltip = { ...made.tooltip, renderMode: 'richText' };
  show(chart, { ...made, tooltip });
}

function redrawAll(): void {
  for (const one of charts.values()) {
    one.chart.resize();
    redraw(one);
  }
}

/** Redraws all charts whenever the window or the colours change. */
export function followLook(): void {
  addEventListener('resize', redrawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
}
