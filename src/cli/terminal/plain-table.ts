/** Text that fits the terminal: tables that are split into blocks of columns, and prose that wraps at words. */
import Table from 'cli-table3';
import type { Column } from '../../sim/report/format.ts';
import { columnsOfOutput, type Look, look } from './output.ts';

export type { Column } from '../../sim/report/format.ts';
export { fixed, percent, seconds, within } from '../../sim/report/measures/plain.ts';

const none = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const noLines = [...none, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const chars = { ...Object.fromEntries(noLines.map((name) => [name, ''])), middle: ' ' };
const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };
const narrowestLabel = 12;

/** Options for the layout of a table. */
export interface TableOptions<T> {
  /** Columns of the terminal. */
  readonly width?: number;
  /** Style of a row, if the row is highlighted. */
  readonly lookOf?: (one: T) => Look | undefined;
  /** Columns that do not fit form another block below (default), or are left out. */
  readonly beyond?: 'below' | 'left out';
}

interface Drawn {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns the lines of a table; the first line is a border, which shows the widths of the columns. */
function drawnLines({ head, rows }: Drawn, labelWidth?: number): string[] {
  const table = new Table({
    head: [...head],
    chars: { ...chars, top: '─', 'top-mid': '┬' },
    style,
    colAligns: head.map((_, index) => (index === 0 ? 'left' : 'right')),
    ...(labelWidth === undefined ? {} : { colWidths: [labelWidth], wordWrap: true }),
  });
  for (const row of rows) table.push([...row]);
  return table.toString().split('\n');
}

/** Groups columns into blocks: each block has the first column, and as many others as fit. */
function blocksOf(widths: readonly number[], width: number, labelWidth: number): number[][] {
  const blocks: number[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (let column = 1; column < widths.length; column += 1) {
    const more = widths[column]! + 1;
    if (used + more > width) {
      blocks.push([0]);
      used = labelWidth;
    }
    blocks.at(-1)!.push(column);
    used += more;
  }
  return blocks.length === 0 ? [[0]] : blocks;
}

/** Returns a table whose only line is the one below its head; `print` prints it. */
export function plainTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  options: TableOptions<T> = {},
): string {
  const { width = columnsOfOutput(), lookOf, beyond = 'below' } = options;
  const head = columns.map(([name]) => name);
  const cells = rows.map((one) => columns.map(([, cell]) => cell(one)));
  const widths = drawnLines({ head, rows: cells })[0]!
    .split('┬')
    .map((column) => column.length);
  const widest = Math.max(0, ...widths.slice(1)) + 1;
  // Only labels can be wrapped: they consist of words.
  const labelWidth = Math.min(widths[0]!, Math.max(narrowestLabel, width - widest));
  const blocks = blocksOf(widths, width, labelWidth);
  const shown = beyond === 'below' ? blocks : blocks.slice(0, 1);
  const looks = rows.map((one) => lookOf?.(one));
  return shown
    .map((block) => {
      const pick = (row: readonly string[]): string[] => block.map((column) => row[column]!);
      const rowsOfBlock = cells.map((row, index) => pick(row).map((cell) => linesIn(cell, looks[index])));
      const lines = drawnLines(
        { head: pick(head), rows: rowsOfBlock },
        labelWidth < widths[0]! ? labelWidth : undefined,
      ).slice(1);
      const heads = Math.max(...pick(head).map((name) => name.split('\n').length));
      const rule = '─'.repeat(labelWidth + block.slice(1).reduce((sum, column) => sum + widths[column]! + 1, 0));
      const trimmed = lines.map((line) => line.trimEnd());
      return [...trimmed.slice(0, heads).map((line) => look('bold', line)), rule, ...trimmed.slice(heads)].join('\n');
    })
    .join('\n\n');
}

/** Styles each line of a cell separately, since a style ends with its line. */
const linesIn = (cell: string, how: Look | undefined): string =>
  how === undefined
    ? cell
    : cell
        .split('\n')
        .map((line) => (line === '' ? line : look(how, line)))
        .join('\n');

/** A character that no text contains: it replaces a word longer than a line, which the table would cut. */
const standIn = '\uE000';

/** Wraps prose at words; lines after the first are indented. A word longer than a line stays whole, on a line of its own. */
export function prose(text: string, indent = '', width = columnsOfOutput()): string {
  const room = width - indent.length;
  const long: string[] = [];
  const short = text.replace(/\S+/g, (word) => {
    if (word.length <= room) return word;
    long.push(word);
    return standIn.repeat(room);
  });
  const table = new Table({ chars, style, colWidths: [room], wordWrap: true });
  table.push([short]);
  return table
    .toString()
    .split('\n')
    .map((line) => (line.startsWith(standIn) ? long.shift()! : line.trimEnd()))
    .map((line, index) => `${index === 0 ? '' : indent}${line}`)
    .join('\n');
}

/** Returns a list with one point for each text. */
export const listed = (texts: readonly string[]): string => texts.map((text) => prose(`- ${text}`, '  ')).join('\n');
