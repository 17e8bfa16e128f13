/** Draws bars of a chart as they are declared: cut off where the chart ends, and named where there is room. */
import type { CustomSeriesOption } from 'echarts/charts';

/** The function with which a chart series draws an item. */
export type RenderItem = NonNullable<CustomSeriesOption['renderItem']>;
/** A place on a chart, in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
/** A text inside a bar, and the least bar height at which it fits. */
export interface BarName {
  readonly text: string;
  /** What is written where the text does not fit. */
  readonly short?: string;
  readonly fill: string;
  readonly leastHeight?: number;
  /** Whether it may be wider than the bar: the bars beside it have no names. */
  readonly isWide?: boolean;
}

/** The part of a box inside another box, if any. */
export function inside(box: Box, view: Box): Box | undefined {
  const [x, y] = [Math.max(box.x, view.x), Math.max(box.y, view.y)];
  const right = Math.min(box.x + box.width, view.x + view.width);
  const bottom = Math.min(box.y + box.height, view.y + view.height);
  return right >= x && bottom >= y ? { x, y, width: right - x, height: bottom - y } : undefined;
}

/** Returns the pixels that the name of a bar needs. */
export const widthOf = (name: string): number => 8 * name.length;

/** Draws a bar. */
export function drawnBar(
  params: Parameters<RenderItem>[0],
  box: Box,
  style: { readonly fill: string | undefined; readonly opacity: number },
  name?: BarName,
): ReturnType<RenderItem> {
  const shape = inside(box, params.coordSys as unknown as Box);
  if (shape === undefined) return undefined;
  const rect = { type: 'rect' as const, shape, style };
  if (name === undefined || shape.height < (name.leastHeight ?? 0)) return rect;
  const fits = (one: string): boolean => name.isWide === true || shape.width >= widthOf(one);
  const text = [name.text, name.short].find((one) => one !== undefined && fits(one));
  if (text === undefined) return rect;
  // A text that is wider than the first bar would be cut off at the beginning of the chart.
  const least = (params.coordSys as unknown as Box).x + widthOf(text) / 2;
  const place = { x: Math.max(least, shape.x + shape.width / 2), y: shape.y + shape.height / 2 };
  // A chart that is drawn anew keeps the text that is attached to a bar, but not a group where only a bar is left.
  return {
    type: 'group',
    children: [
      rect,
      {
        type: 'text',
        // Above the bars that are drawn later.
        z2: 10,
        style: { ...place, text, fill: name.fill, fontSize: 11, align: 'center', verticalAlign: 'middle' },
      },
    ],
  };
}

/** A series of bars, each given by row, start and end. */
export const barSeries = (data: readonly (readonly number[])[], renderItem: RenderItem) => ({
  type: 'custom',
  data: [...data],
  encode: { x: [1, 2], y: 0 },
  clip: true,
  renderItem,
});
