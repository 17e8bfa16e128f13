/** Draws rows over time, with bars of any kind and a slider to zoom. */
import { given } from '../../core/collections/given.ts';
import { barSeries, drawnBar, type RenderItem } from './bars.ts';
import { axis, colour, tooltipBeside } from './chart-style.ts';

/** A bar: its times, its row, and its style. */
export interface GanttBar {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  /** A colour of the style sheet. */
  readonly colour: string;
  readonly opacity: number;
  /** Pixels to leave free at the end of the bar. */
  readonly gap?: number;
  /** Text inside the bar, if there is room. */
  readonly name?: string;
  /** Text where the other one does not fit. */
  readonly shortName?: string;
  /** Whether the text may be wider than the bar. */
  readonly isNameWide?: boolean;
}

/** The data of a Gantt chart. */
export interface Gantt {
  readonly rows: readonly string[];
  readonly bars: readonly GanttBar[];
  readonly lastSeconds: number;
  /**
   * Seconds that are visible at first; the user can zoom to see the rest. Without it, everything is visible, and there is no zoom.
   */
  readonly windowSeconds?: number;
  /** Returns the tooltip for a bar, by index. */
  readonly describe: (index: number) => string;
  /** Width of the row names, in pixels. */
  readonly left?: number;
  /** Width of the chart, in pixels. A narrow one has fewer labels of time. */
  readonly width?: number;
}

/** Pixels that are free at the right of a chart. */
const right = 24;
/** Pixels for a label of time, with the space beside it. */
const roomOfLabel = 70;

/** Returns the pixels that a chart of this width has for time, beside the names of its rows. */
export const roomOf = (width: number, left: number): number => width - left - right;

/** Draws rows over time. */
export function ganttChart({ rows, bars, lastSeconds, windowSeconds, describe, left = 112, width = 1200 }: Gantt) {
  const [unit, seconds] = lastSeconds >= 600 ? ['min', 60] : ['s', 1];
  const label = (value: number): string => `${Number(value.toFixed(2))} ${unit}`;
  const colours = new Map([...new Set(bars.map((bar) => bar.colour))].map((name) => [name, colour(name)]));
  const ink = colour('ink');
  const renderItem: RenderItem = (params, api) => {
    const {
      row,
      start,
      end,
      opacity,
      gap = 0,
      name,
      shortName,
      isNameWide = false,
      colour: kind,
    } = bars[params.dataIndex]!;
    const [x, y] = api.coord([start / seconds, row]) as [number, number];
    const [until] = api.coord([end / seconds, row]) as [number];
    const height = (api.size!([0, 1]) as number[])[1]! * 0.8;
    const box = { x, y: y - height / 2, width: Math.max(0.6, until - x - gap), height };
    const fill = kind === 'long' && !isNameWide ? '#14171b' : ink;
    return drawnBar(
      params,
      box,
      { fill: colours.get(kind), opacity },
      name === undefined ? name : { text: name, fill, isWide: isNameWide, ...given({ short: shortName }) },
    );
  };
  return {
    grid: { left, right, top: 8, bottom: windowSeconds === undefined ? 28 : 68 },
    tooltip: tooltipBeside({ formatter: ({ dataIndex }: { dataIndex: number }) => describe(dataIndex) }),
    xAxis: axis({
      type: 'value',
      min: 0,
      max: lastSeconds / seconds,
      splitNumber: Math.max(2, Math.min(5, Math.floor(roomOf(width, left) / roomOfLabel))),
      axisLabel: { color: colour('soft'), formatter: label, showMaxLabel: false, hideOverlap: true },
      splitLine: { show: false },
    }),
    yAxis: axis({
      type: 'category',
      inverse: true,
      data: [...rows],
      axisLabel: { color: colour('soft'), width: left - 12, overflow: 'truncate' },
      axisTick: { show: false },
      splitLine: { show: false },
    }),
    ...(windowSeconds === undefined ? {} : { dataZoom: zoomTo(windowSeconds / seconds, label) }),
    series: [
      barSeries(
        bars.map(({ row, start, end }) => [row, start / seconds, end / seconds]),
        renderItem,
      ),
    ],
  };
}

/** Returns the settings of the zoom: a slider below, and the mouse wheel with Ctrl. */
const zoomTo = (end: number, label: (value: number) => string) => [
  {
    type: 'slider',
    bottom: 10,
    height: 24,
    startValue: 0,
    endValue: end,
    labelFormatter: label,
    textStyle: { color: colour('soft') },
    borderColor: colour('line'),
    fillerColor: 'rgba(86,140,190,.25)',
    showDataShadow: false,
    brushSelect: false,
    filterMode: 'weakFilter',
  },
  { type: 'inside', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
];
