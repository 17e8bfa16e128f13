/// <reference lib="dom" />
/** The charts of a running job, in the style and by the library of the report. */
import { oneLine } from '../../core/printable.ts';
import type { RequestBar, Timeline } from '../../logs/job/job-view.ts';
import type { Round } from '../../logs/job/rounds.ts';
import { axis, colour, legend, legendHeight, tooltipBeside } from '../kit/chart-style.ts';
import { measured } from '../kit/durations.ts';
import { echarts } from '../kit/echarts.ts';
import { type GanttBar, ganttChart } from '../kit/gantt.ts';

/** What a page draws of a job: bins over time, its rounds, and the gaps in what was followed. */
export interface Drawn {
  readonly timeline: Timeline;
  readonly rounds: readonly Round[];
  readonly missed: readonly { readonly from: number; readonly to: number; readonly events: number }[];
}

const rowHeight = 24;
const shades = 6;
const charts = new Map<HTMLElement, { chart: echarts.ECharts; option: (width: number) => object }>();

/** Draws a chart into an element, or draws it anew. Texts are no HTML: ids may hold anything. */
export function draw(element: HTMLElement, height: number, option: (width: number) => object): void {
  element.style.height = `${height}px`;
  if (element.offsetParent === null) return;
  let one = charts.get(element);
  if (one === undefined) charts.set(element, (one = { chart: echarts.init(element), option }));
  one.option = option;
  one.chart.resize();
  redraw(one);
}

function redraw({ chart, option }: { chart: echarts.ECharts; option: (width: number) => object }): void {
  const made = option(chart.getWidth()) as { tooltip?: object };
  const tooltip = { ...made.tooltip, renderMode: 'richText' };
  chart.setOption({ animation: false, backgroundColor: 'transparent', ...made, tooltip }, true);
}

function redrawAll(): void {
  for (const one of charts.values()) {
    one.chart.resize();
    redraw(one);
  }
}

/** From now on draws all charts anew where the window or the colours have changed. */
export function followLook(): void {
  addEventListener('resize', redrawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
}

/** Seconds before now, for an axis. */
const ago = (seconds: number): string => (seconds === 0 ? 'now' : `−${measured(seconds)}`);

/** Cells of one row, those alike as one bar. */
function loadBars(row: number, load: readonly number[], most: number, { from, width }: Timeline): GanttBar[] {
  const bars: { row: number; start: number; end: number; colour: string; opacity: number; load: number }[] = [];
  for (const [place, value] of load.entries()) {
    const shade = value === 0 ? 0 : Math.max(1, Math.ceil((value / most) * shades));
    if (shade === 0) continue;
    const [start, opacity] = [(from + place) * width, 0.3 + (0.7 * shade) / shades];
    const last = bars.at(-1);
    if (last !== undefined && last.opacity === opacity && Math.abs(last.end - start) < width / 2)
      last.end = start + width;
    else bars.push({ row, start, end: start + width, colour: 'rollout', opacity, load: value });
  }
  return bars;
}

const colours: Readonly<Record<string, string>> = {
  engine: 'rollout',
  trainer: 'train',
  'reward worker': 'reward',
  environment: 'reference',
  sandbox: 'reference',
  loader: 'sync',
};

/** Whoever has something to do; all that are not named are one row, where there are any. */
const actorsIn = ({ actors }: Timeline): Timeline['actors'] =>
  actors.filter(({ by, load }) => by !== null || load.some((one) => one > 0));
export const ganttHeight = (drawn: Drawn): number =>
  Math.min(900, 40 + rowHeight * (1 + actorsIn(drawn.timeline).length));

/** Draws the rounds, and how much each engine and worker has to do. */
export function jobGantt({ timeline, rounds, missed }: Drawn, width: number) {
  const { at } = timeline;
  const actors = actorsIn(timeline);
  const begin = timeline.from * timeline.width;
  const texts: string[] = [];
  const bars: GanttBar[] = [];
  const add = (bar: GanttBar, text: string): void => {
    if (bar.end <= begin) return;
    bars.push({ ...bar, start: Math.max(bar.start, begin) - begin, end: bar.end - begin });
    texts.push(text);
  };
  for (const { id, kind, from, to, end, marks } of rounds) {
    const isOpen = end === undefined && id === rounds.at(-1)!.id;
    const until = end ?? (isOpen ? at : to);
    const name = oneLine(id);
    const length = `${measured(until - from)}${isOpen ? ' so far' : ''}`;
    add(
      { row: 0, start: from, end: until, colour: kind === 'long' ? 'long' : 'short', opacity: 1, gap: 1, name },
      `round ${name}${kind === undefined ? '' : `, ${kind}`}: ${length}`,
    );
    const last = Math.max(until, ...Object.values(marks));
    if (last > until)
      add(
        { row: 0, start: until, end: last, colour: 'train', opacity: 0.5, gap: 1 },
        `round ${name}, after its rollout: ${measured(last - until)}`,
      );
  }
  for (const [row, { who, by, load }] of actors.entries()) {
    const name = oneLine(by === null ? who : `${who} ${by}`);
    const most = Math.max(...actors.filter((one) => one.who === who).flatMap((one) => one.load));
    for (const bar of loadBars(row + 1, load, most, timeline)) {
      const shown = { ...bar, colour: colours[who] ?? 'overhead', end: Math.min(bar.end, Math.max(at, bar.start)) };
      add(
        shown,
        `${name}: about ${Number((bar as unknown as { load: number }).load.toPrecision(2))} open, for ${measured(bar.end - bar.start)}`,
      );
    }
  }
  for (const { from, to, events } of missed)
    add(
      { row: 0, start: from, end: to, colour: 'overhead', opacity: 0.6, name: 'not followed' },
      `${events} events were not followed: what was open then is not drawn`,
    );
  const span = Math.max(at - begin, timeline.width);
  const left = width < 500 ? 92 : 150;
  const names = actors.map(({ who, by }) => oneLine(by === null ? who : left < 100 ? by : `${who} ${by}`));
  const chart = ganttChart({
    rows: ['rounds', ...names],
    bars,
    lastSeconds: span,
    describe: (place) => texts[place]!,
    left,
  });
  return { ...chart, xAxis: timeAxis(span) };
}

const timeAxis = (span: number) =>
  axis({
    type: 'value',
    min: 0,
    max: span >= 600 ? span / 60 : span,
    splitLine: { show: false },
    axisLabel: {
      color: colour('soft'),
      hideOverlap: true,
      showMaxLabel: false,
      formatter: (value: number) => ago(span - (span >= 600 ? value * 60 : value)),
    },
  });

/** A line over the bins. */
interface Line {
  readonly name: string;
  readonly values: readonly number[];
  readonly colour: string;
  readonly dash?: string;
}

/** Draws lines over time. */
function linesChart({ timeline }: Drawn, lines: readonly Line[], width: number) {
  const { from, width: seconds, at } = timeline;
  const begin = from * seconds;
  const names = lines.map(({ name }) => name);
  return {
    grid: { left: 46, right: 16, top: 14 + legendHeight(names, width), bottom: 26 },
    legend: legend(names, 'lines'),
    tooltip: tooltipBeside({
      trigger: 'axis',
      formatter: (points: readonly { readonly dataIndex: number }[]) => {
        const place = points[0]?.dataIndex ?? 0;
        const values = lines.map(({ name, values: all }) => `${name}: ${all[place] ?? 0}`);
        return [`${ago(Math.max(0, at - begin - place * seconds))}`, ...values].join('\n');
      },
    }),
    xAxis: {
      ...timeAxis(Math.max(at - begin, seconds)),
      max: Math.max(at - begin, seconds),
      axisLabel: {
        color: colour('soft'),
        hideOverlap: true,
        showMaxLabel: false,
        formatter: (value: number) => ago(Math.max(at - begin, seconds) - value),
      },
    },
    yAxis: axis({ type: 'value', minInterval: 0 }),
    series: lines.map(({ name, values, colour: kind, dash = 'solid' }) => ({
      name,
      type: 'line',
      step: 'end',
      symbol: 'none',
      lineStyle: { width: 2, type: dash },
      color: colour(kind),
      // The last bin is not over.
      data: values.slice(0, -1).map((value, place) => [place * seconds, value]),
    })),
  };
}

/** Draws what was put off, and the engines that idle while others work. */
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

/** Draws events and the rest by the second. */
export const rateLines = (drawn: Drawn, width: number) =>
  linesChart(
    drawn,
    [
      { name: 'events/s', values: drawn.timeline.events, colour: 'accent' },
      { name: 'decisions/s', values: drawn.timeline.decisions, colour: 'train', dash: 'dashed' },
      { name: 'responses/s', values: drawn.timeline.completed, colour: 'reward', dash: 'dotted' },
    ],
    width,
  );

const requestHeight = 15;
export const requestsHeight = (bars: readonly RequestBar[]): number => 40 + requestHeight * Math.max(1, bars.length);

/** Draws single requests, one to a row. */
export function requestsGantt(bars: readonly RequestBar[], at: number, width: number) {
  const begin = Math.min(at, ...bars.map(({ from }) => from));
  const span = Math.max(at - begin, 0.001);
  const left = width < 500 ? 92 : 190;
  const chart = ganttChart({
    rows: bars.map(({ id }) => oneLine(id)),
    left,
    lastSeconds: span,
    bars: bars.map(({ from, to = at, ended, actor }, row) => {
      const who = Object.keys(colours).find((one) => actor.startsWith(one)) ?? '';
      const isLost = ended === undefined || /failed|lost/.test(ended);
      const kind = isLost && to < at ? 'overhead' : (colours[who] ?? 'overhead');
      return { row, start: from - begin, end: to - begin, colour: kind, opacity: ended === undefined ? 1 : 0.6 };
    }),
    describe: (place) => {
      const { id, type, actor, from, to, ended } = bars[place]!;
      const until = to === undefined ? 'goes on' : (ended ?? 'replaced by another, or given up');
      return `${oneLine(id)}\n${type}, ${oneLine(actor)}\n${measured((to ?? at) - from)}: ${until}`;
    },
  });
  return { ...chart, xAxis: timeAxis(span) };
}
