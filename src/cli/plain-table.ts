/** Tables of many narrow columns on the terminal, and how numbers stand in them. */
import Table from 'cli-table3';
import { headed } from './output.ts';

/** A number with so many digits behind its point. */
export const fixed = (value: number, digits = 1): string => value.toFixed(digits);

/** Seconds in as few letters as say enough. */
export const seconds = (value: number): string => fixed(value, value >= 100 ? 0 : 1);

/** A column of a table: its head, and the cell of a row. */
export type Column<T> = readonly [head: string, cell: (one: T) => string];

const none = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const noLines = [...none, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const chars = { ...Object.fromEntries(noLines.map((name) => [name, ''])), middle: ' ' };

/** A table without lines but the one below its head, to be printed by `print`. */
export function plainTable<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const table = new Table({
    head: columns.map(([head]) => head),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  for (const one of rows) table.push(columns.map(([, cell]) => cell(one)));
  const lines = table.toString().split('\n');
  const headLines = Math.max(...columns.map(([head]) => head.split('\n').length));
  const rule = '─'.repeat(lines.at(-1)!.length);
  const trimmed = lines.map((line) => line.trimEnd());
  return [...headed(trimmed.slice(0, headLines)), rule, ...trimmed.slice(headLines)].join('\n');
}
