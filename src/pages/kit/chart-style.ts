/// <reference lib="dom" />
/** Style that the charts of a report share: the reader's colours, axes, legends, tooltips. */

/** Returns a colour of the style sheet, in the reader's present colour scheme. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Returns an axis in the colours of the page. */
export function axis(extra: object = {}) {
  const line = { lineStyle: { color: colour('line') } };
  const text = { color: colour('soft') };
  return { axisLine: line, splitLine: line, axisTick: line, axisLabel: text, nameTextStyle: text, ...extra };
}

/** Returns a tooltip in the colours of the page. */
export function tooltip(extra: object = {}) {
  return {
    confine: true,
    backgroundColor: colour('ground'),
    borderColor: colour('line'),
    textStyle: { color: colour('ink') },
    ...extra,
  };
}

interface Size {
  readonly contentSize: readonly [number, number];
  readonly viewSize: readonly [number, number];
}
type Rect = { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;

/** Places a tooltip below or above its subject, never on it; on an axis, on the side away from the pointer. */
export function tooltipBeside(extra: object = {}) {
  const position = (point: readonly [number, number], _: unknown, _dom: unknown, rect: Rect, size: Size) => {
    const [width, height] = size.contentSize;
    const [all, tall] = size.viewSize;
    const x = Math.max(4, Math.min(all - width - 4, point[0] - width / 2));
    if (rect === null) return [point[0] < all / 2 ? all - width - 4 : 4, 4];
    const below = rect.y + rect.height + 6;
    const above = rect.y - height - 6;
    if (below + height <= tall) return [x, below];
    if (above >= 0) return [x, above];
    return [
      point[0] < all / 2 ? Math.min(all - width, point[0] + 16) : Math.max(0, point[0] - width - 16),
      Math.max(0, Math.min(tall - height, below)),
    ];
  };
  return tooltip({ confine: false, position, ...extra });
}

/** Returns a legend. Lines have the style of the chart, including dashes; boxes are in full colour. */
export function legend(names: readonly string[], of: 'lines' | 'boxes') {
  const itemStyle = { opacity: of === 'lines' ? 0 : 1 };
  return { data: [...names], top: 4, itemWidth: 28, itemStyle, textStyle: { color: colour('ink') } };
}

/** Returns the width of a text in a legend, in pixels. */
function textWidth(text: string): number {
  const canvas = document.createElement('canvas').getContext('2d')!;
  canvas.font = '12px sans-serif';
  return canvas.measureText(text).width;
}

/** Returns the number of legend rows in a chart of this width (in pixels). */
export function legendRows(names: readonly string[], width: number, widthOf = textWidth): number {
  let [rows, used] = [1, 0];
  for (const name of names) {
    // Width of the symbol, of the gap after it, and of the margin around an item. An extra row is better than a row on top of the
    // chart.
    const item = 28 + 5 + widthOf(name) + 20;
    if (used > 0 && used + item > width - 24) [rows, used] = [rows + 1, 0];
    used += item;
  }
  return rows;
}

/** Returns the legend height in a chart of this width; both in pixels. */
export const legendHeight = (names: readonly string[], width: number): number => 24 * legendRows(names, width);
