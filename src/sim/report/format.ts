/** Formats numbers and text for a report. */
import { printable } from '../../core/ids/printable.ts';
import { type Reading, read } from '../comparison/metrics.ts';
import type { Interval } from '../comparison/result.ts';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for any place in HTML, including attributes, and removes characters that change the text direction. */
export const escapeHtml = (text: unknown): string =>
  printable(String(text)).replace(/[&<>"']/g, (sign) => escapes[sign]!);

/** Returns a number with thousands separators. */
export const number = (value: number, digits = 2): string =>
  // A number that is rounded to 0 has no sign.
  value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: 'negative',
  });

/** Smaller shares would appear as 0.00 %. */
const leastShown = 0.00005;

/** A no-break space keeps the sign on the line of its number. */
const percentSign = '\u00a0%';

/** Returns a share (0 to 1) in percent, as HTML; small shares have one digit more, so that they do not appear as 0. */
export const percent = (share: number): string => {
  if (share === 0) return `0${percentSign}`;
  if (share > 0 && share < leastShown) return `&lt;\u00a00.01${percentSign}`;
  return `${number(share * 100, Math.abs(share) < 0.01 ? 2 : 1)}${percentSign}`;
};

/** Returns a ratio, with its interval in small print. */
export const times = ({ value, low, high }: Interval): string =>
  `${number(value)} × <span class="range">${number(low)}–${number(high)}</span>`;

/** A column of a table: its head, and a function that returns the cell of a row. */
export type Column<T> = readonly [head: string, cell: (one: T) => string];

/** Returns columns whose cells are numbers with so many digits. */
export const numbers = <T>(digits: number, columns: Readonly<Record<string, Reading<T>>>): Column<T>[] =>
  Object.entries(columns).map(([head, of]) => [head, (one) => number(read(one, of), digits)]);

/** Returns a table. The first column contains the names of the rows. Cells are HTML. */
export function table<T>(
  caption: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  lastRowClass = '',
): string {
  // A no-break space keeps a unit on the line of its number.
  const head = columns.map(([name]) => `<th scope="col">${name.replace(/, s$/, ',\u00a0s')}</th>`).join('');
  const body = rows.map((row, index) => {
    const name = lastRowClass !== '' && index === rows.length - 1 ? ` class="${lastRowClass}"` : '';
    const [first, ...cells] = columns.map(([, cell]) => cell(row));
    return `<tr${name}><th scope="row">${first}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  // A scrollable region must be accessible by keyboard.
  return `<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr>${head}</tr></thead><tbody>
${body.join('\n')}
</tbody></table></div>`;
}
