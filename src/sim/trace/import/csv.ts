/** Turns lines of CSV into rows; quoted cells may contain separators and line breaks. */
import { refuse } from '../../../errors.ts';

const separators = [',', ';', '\t', '|'];

/** Returns the cells of a record. */
function cellsOf(record: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < record.length; at += 1) {
    const sign = record[at]!;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (record[at + 1] === '"') cell += record[at++];
      else isQuoted = false;
    } else if (sign === '"' && cell.trim() === '') [cell, isQuoted] = ['', true];
    else if (sign === separator) {
      cells.push(cell.trim());
      cell = '';
    } else cell += sign;
  }
  return [...cells, cell.trim()];
}

const quotes = (text: string): number => text.split('"').length - 1;

/** Returns the list or the object that a cell has in JSON; any other cell as it is. */
function cellValue(cell: string): unknown {
  if (!/^(\[.*\]|\{.*\})$/s.test(cell)) return cell;
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
}

/** Whether a line contains only a number. */
export const isNumber = (line: string): boolean => /^[+-]?\d+(\.\d*)?(e[+-]?\d+)?$/i.test(line);

/** Turns lines into objects with the names from the header; without a header, a line is a number of tokens. */
export class CsvRows {
  readonly #header: readonly string[] | undefined;
  readonly #separator: string;
  /** Lines of a record whose quoted cell has not ended yet. */
  #begun: { readonly lines: string[]; readonly where: string } | undefined;

  /**
   * @param first - the first line: the header, or a number
   * @param separator - found in the first line if absent
   */
  constructor(first: string, separator?: string) {
    const counts = separators.map((one) => [one, cellsOf(first, one).length] as const);
    this.#separator = separator ?? counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
    this.#header = isNumber(first) ? undefined : cellsOf(first, this.#separator);
  }

  /** The columns, without values; `undefined` without a header. */
  get columns(): Readonly<Record<string, unknown>> {
    return Object.fromEntries((this.#header ?? ['tokens']).map((name) => [name, undefined]));
  }

  /** Whether the first line is a header (and no row). */
  get hasHeader(): boolean {
    return this.#header !== undefined;
  }

  /** The place where an open quoted cell begins. */
  get open(): string | undefined {
    return this.#begun?.where;
  }

  /**
   * Returns the row that ends in a line, with the place of the row's beginning; `undefined` inside a quoted cell. Throws
   * `invalid_input`.
   */
  row(line: string, where: string): { readonly row: Record<string, unknown>; readonly where: string } | undefined {
    const begun = this.#begun ?? { lines: [], where };
    const isOdd = quotes(line) % 2 === 1;
    begun.lines.push(line);
    const isOpen = isOdd !== (this.#begun !== undefined);
    this.#begun = isOpen ? begun : undefined;
    if (isOpen) return undefined;
    const [text, from] = [begun.lines.join('\n'), begun.where];
    const cells = cellsOf(text, this.#separator);
    const header = this.#header ?? ['tokens'];
    if (cells.length !== header.length) {
      const expected = this.#header === undefined ? 'a number' : `${header.length} cells, as in the header`;
      const got = this.#header === undefined ? text : cells.length;
      refuse('invalid_input', from, expected, got);
    }
    return { row: Object.fromEntries(header.map((name, index) => [name, cellValue(cells[index]!)])), where: from };
  }
}
