/** Tables of many narrow columns on the terminal, and how numbers stand in them. */
import Table from 'cli-table3';
import { coloured } from './output.ts';

/** A number with so many digits behind its point. */
export const fixed = (value: number, digits = 1): string => value.toFixed(digits);

/** Seconds in as few letters as say enough. */
export const seconds = (value: number): string => fixed(value, value >= 100 ? 0 : 1);

/** A column of a table: its head, and the cell of a row. */
export type Column<T> = readonly [head: string, cell: (one: T) => string];

const none = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const noLines = [...none, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const chars = { ...Object.fromEntries(noLines.map((name) => [name, ''])), middle: ' ' };

/** A table without lines but the one below its head. */
export function plainTable<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const bold = coloured() ? ['bold'] : [];
  const table = new Table({
    head: columns.map(([head]) => head),
    chars,
    style: { head: bold, border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  for (const one of rows) table.push(columns.map(([, cell]) => cell(one)));
  const lines = table.toString().split('\n');
  const headLines = Math.max(...columns.map(([head]) => head.split('\n').length));
  lines.splice(headLines, 0, '─'.repeat(lines.at(-1)!.length));
  return lines.map((line) => line.trimEnd()).join('\n');
}
