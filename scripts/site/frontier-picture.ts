/** The picture of "Which tail policy": time against kept tokens, out of the tables of docs/simulator.md. */
import { readFileSync } from 'node:fs';
import { root } from './pages.ts';

/** A row of a table: seconds as shares of the synchronous baseline's. */
interface Row {
  readonly name: string;
  readonly correlation: string;
  readonly tail: number;
  readonly tailKept: number;
  readonly lossless: number;
  readonly oracle: number;
}

const columns = ['lengths', 'ρ', 'synchronous', 'tail batching', 'its kept tokens', 'lossless tail', 'oracle'] as const;

/** Returns the tables of the page that have these columns. */
function tables(): Row[][] {
  const page = readFileSync(`${root}docs/simulator.md`, 'utf8');
  return [...page.matchAll(/^\|.*\|\n\| -.*\n(?:\|.*\n)+/gm)].flatMap(([table]) => {
    const [head, , ...rows] = table
      .trim()
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const at = columns.map((name) => head!.indexOf(name));
    if (at.includes(-1)) return [];
    const read = (cells: readonly string[]): Row => {
      const [name, correlation, ...numbers] = at.map((column) => cells[column]!);
      const [synchronous, tail, tailKept, lossless, oracle] = numbers.map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const of = (seconds: number): number => seconds / synchronous;
      return {
        name: name!,
        correlation: correlation!,
        tail: of(tail),
        tailKept,
        lossless: of(lossless),
        oracle: of(oracle),
      };
    };
    return [rows.map(read)];
  });
}

/** Grey, orange and blue that can be seen on light and on dark pages. */
const [grey, orange, blue] = ['#808890', '#d08030', '#4a86d8'];
const [width, left, right, top, height] = [760, 62, 200, 34, 250];
const plotWidth = width - left - right;
const radius = 9;

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${grey}"${more}>${words}</text>\n`;
const line = (x1: number, y1: number, x2: number, y2: number, more = ''): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${grey}"${more}/>\n`;
const dot = (x: number, y: number, colour: string, mark: number): string =>
  `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" fill="${colour}"/>
<text x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" fill="#fff" font-size="11" text-anchor="middle">${mark}</text>\n`;

interface Axes {
  readonly times: readonly number[];
  readonly kept: readonly number[];
}

function panel(
  title: string,
  rows: readonly Row[],
  { times, kept }: Axes,
  y: number,
  key: (row: Row) => string,
): string {
  const scale = (value: number, ticks: readonly number[]): number => (value - ticks[0]!) / (ticks.at(-1)! - ticks[0]!);
  const xOf = (time: number): number => left + plotWidth * scale(time, times);
  const yOf = (share: number): number => y + top + 26 + (height - top - 40) * (1 - scale(share, kept));
  const out = [text(left, y + 12, title, ' font-weight="600"')];
  for (const share of kept) {
    out.push(line(left, yOf(share), left + plotWidth, yOf(share), ' stroke-opacity="0.3"'));
    out.push(text(left - 8, yOf(share) + 4, share.toFixed(2), ' text-anchor="end"'));
  }
  for (const time of times) out.push(text(xOf(time), y + height + 8, time.toFixed(1), ' text-anchor="middle"'));
  out.push(line(xOf(1), yOf(1) - 30, xOf(1), yOf(kept[0]!), ' stroke-dasharray="4 4"'));
  out.push(text(left, y + height + 26, 'time a trained prompt, synchronous = 1 (dashed)'));
  out.push(text(left - 54, y + top, 'kept tokens'));
  // Dots at the same height that would overlap are moved up.
  const placed: [number, number][] = [];
  const dots: string[] = [];
  for (const [index, row] of rows.entries()) {
    const x = xOf(row.lossless);
    let up = yOf(1);
    while (placed.some(([px, py]) => Math.hypot(px - x, py - up) < 2 * radius)) up -= 2 * radius;
    placed.push([x, up]);
    out.push(line(xOf(row.tail), yOf(row.tailKept), x, up, ' stroke-opacity="0.6"'));
    dots.push(dot(xOf(row.tail), yOf(row.tailKept), orange!, index + 1), dot(x, up, blue!, index + 1));
    const at = y + top + 32 + index * 20;
    out.push(text(left + plotWidth + 24, at, `${index + 1}  ${key(row)}`, ' font-size="12"'));
  }
  return [...out, ...dots].join('');
}

/** The whole picture, as SVG; the same bytes for the same tables. */
export function tailFrontier(): string {
  const [, once, serveGen] = tables();
  const first = panel(
    'Prompts that come back, each recorded response once',
    once!,
    { times: [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1], kept: [0.85, 0.9, 0.95, 1] },
    34,
    ({ name, correlation }) => `${name.replace('CASTILLO ', '')}, ρ ${correlation}`,
  );
  const second = panel(
    'ServeGen DeepSeek-R1, for an assumed correlation ρ',
    serveGen!,
    { times: [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1], kept: [0.5, 0.6, 0.7, 0.8, 0.9, 1] },
    34 + height + 50,
    ({ correlation }) => `ρ ${correlation}`,
  );
  const key = [
    [blue, 'lossless tail: every token kept'],
    [orange, 'tail batching, 1.25 / 1.25'],
  ]
    .map(([colour, words], index) => {
      const x = left + index * 240;
      return `<circle cx="${x + 6}" cy="10" r="6" fill="${colour}"/>\n${text(x + 18, 14, words!)}`;
    })
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${2 * height + 118}" font-family="system-ui, sans-serif" font-size="13">
<title>Time against kept tokens, simulated: tail batching and the lossless tail, as shares of the synchronous baseline</title>
${key}${first}${second}</svg>
`;
}
