/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Runs in the reader's browser: draws the charts of a report from the data in the page, in the reader's colour scheme. */

import type { WorkloadData } from '../../sim/report/data.ts';
import type { PoolsData } from '../../sim/report/pools-data.ts';
import type { VlmData } from '../../sim/report/vlm-data.ts';
import { show } from '../kit/draw.ts';
import { type ECharts, type EChartsCoreOption, init } from '../kit/echarts.ts';
import { argumentChart, argumentHeight, waterfallChart, waterfallHeight } from './argument.ts';
import { lengthsChart, queueChart, stepsChart } from './charts.ts';
import { poolsChart, poolsHeight, waitsChart, waitsHeight } from './pools.ts';
import { timelineChart, timelineHeight } from './timeline.ts';
import { planChart, planHeight, stagesChart, stagesHeight } from './vlm.ts';

const read = (id: string) => JSON.parse(document.getElementById(id)?.textContent ?? '[]');
const workloads: WorkloadData[] = read('data');
const vlmWorkloads: VlmData[] = read('vlm-data');
const poolWorkloads: PoolsData[] = read('pools-data');

interface Drawn {
  readonly element: HTMLElement;
  readonly chart: ECharts;
  readonly option: () => EChartsCoreOption;
}

/**
 * Returns how to draw an element: the height of its chart, if its data define it, and a function that returns the options of
 * the chart for a given width.
 */
function drawing({ dataset }: HTMLElement): { height?: number; option: (width: number) => EChartsCoreOption } {
  const run = Number(dataset.run);
  const at = Number(dataset.workload);
  const [data, pools, vlm] = [workloads[at]!, poolWorkloads[at]!, vlmWorkloads[at]!];
  switch (dataset.chart) {
    case 'argument':
      return { height: argumentHeight(data), option: (width) => argumentChart(data, width) };
    case 'waterfall':
      return { height: waterfallHeight(data), option: (width) => waterfallChart(data, width) };
    case 'timeline':
      return { height: timelineHeight(data.runs[run]!), option: () => timelineChart(data, run) };
    case 'steps':
      return { option: (width) => stepsChart(data, width) };
    case 'lengths':
      return { option: (width) => lengthsChart(data, width) };
    case 'queue':
      return { option: (width) => queueChart(data, width) };
    case 'pools':
      return { height: poolsHeight(pools), option: () => poolsChart(pools) };
    case 'waits':
      return { height: waitsHeight(pools), option: (width) => waitsChart(pools, width) };
    case 'stages':
      return { height: stagesHeight(vlm), option: (width) => stagesChart(vlm, width) };
    default:
      return { height: planHeight(vlm), option: () => planChart(vlm, run) };
  }
}

const drawn = new Map<HTMLElement, Drawn>();

const drawOne = ({ chart, option }: Drawn): void => show(chart, option());

function begin(element: HTMLElement): void {
  const { height, option } = drawing(element);
  if (height !== undefined) element.style.height = `${height}px`;
  const chart = init(element);
  const one = { element, chart, option: () => option(chart.getWidth()) };
  drawn.set(element, one);
  drawOne(one);
  if (element.dataset.chart === 'timeline') zoomTogether(one);
}

/** Timelines of one workload zoom together; a zoom that was copied from another timeline is not passed on again. */
function zoomTogether({ element, chart }: Drawn): void {
  chart.on('datazoom', (event) => {
    const zoom = event as {
      start?: number;
      end?: number;
      passedOn?: boolean;
      batch?: { start: number; end: number }[];
    };
    if (zoom.passedOn) return;
    const { start, end } = zoom.batch?.[0] ?? zoom;
    for (const other of drawn.values()) {
      const { chart: kind, workload } = other.element.dataset;
      if (other.element === element || kind !== 'timeline' || workload !== element.dataset.workload) continue;
      other.chart.dispatchAction({ type: 'dataZoom', start, end, passedOn: true });
    }
  });
}

/** Draws the visible charts that are not drawn yet; a chart in a closed part has no width yet. */
function drawSeen(): void {
  for (const element of document.querySelectorAll<HTMLElement>('.chart')) {
    if (element.offsetParent !== null && !drawn.has(element)) begin(element);
  }
  refit();
  document.documentElement.dataset.drawn = String(drawn.size);
}

/** Charts that were hidden when the window was resized still have the old width. */
function refit(): void {
  // On paper, the height of a chart follows its picture, which is scaled to the sheet.
  if (matchMedia('print').matches) return;
  for (const one of drawn.values()) {
    if (one.element.offsetParent === null || one.chart.getWidth() === one.element.clientWidth) continue;
    one.chart.resize();
    // Drawing these charts again would reset their zoom.
    if (!['timeline', 'pools'].includes(one.element.dataset.chart!)) drawOne(one);
  }
}

const tabs = [...document.querySelectorAll<HTMLElement>('[role=tab]')];

/** Shows the part of a tab. */
function open(tab: HTMLElement): void {
  for (const one of tabs) {
    const isOpen = one === tab;
    one.setAttribute('aria-selected', String(isOpen));
    one.tabIndex = isOpen ? 0 : -1;
    document.getElementById(one.getAttribute('aria-controls')!)!.classList.toggle('open', isOpen);
  }
  drawSeen();
}

const openNamed = (): void => {
  const tab = tabs.find((one) => `#${one.getAttribute('aria-controls')}` === location.hash);
  if (tab === undefined) return;
  open(tab);
  tab.scrollIntoView({ block: 'nearest' });
};

document.documentElement.classList.add('with-script');
for (const [index, tab] of tabs.entries()) {
  tab.addEventListener('click', () => open(tab));
  tab.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = tabs[(index + step + tabs.length) % tabs.length]!;
    next.focus();
    open(next);
  });
}
for (const one of document.querySelectorAll('details')) one.addEventListener('toggle', drawSeen);
drawSeen();
openNamed();
addEventListener('hashchange', openNamed);
addEventListener('resize', refit);
for (const query of ['(prefers-color-scheme: dark)', 'print']) {
  matchMedia(query).addEventListener('change', () => {
    for (const one of drawn.values()) drawOne(one);
  });
}
