/** Reads the lines of a file, the elements of a file that is one JSON array, or the rows of a table, one at a time. */
import { refuse } from '../../../errors.ts';
import { isDeeperThan, type Line, LineReader } from '../../../rpc/connection/framing.ts';
import { JsonArrayReader } from '../../../sim/trace/json-array.ts';
import { opened, textBytes } from './bytes.ts';
import { kindOf } from './kinds.ts';
import { FileNotes } from './notes.ts';
import type { TableRow } from './parquet.ts';
import type { InputFile } from './paths.ts';
import { pickledLines } from './pickles.ts';
import { isTorchFile } from './zip.ts';

/** A line or an element, with the number of its line in the file, from 1. */
export interface TextRecord {
  readonly text: string;
  readonly number: number;
  /** Whether it is the last line of its file, and has no line break; absent for an element. */
  readonly isUnended?: boolean;
}

/** What a file contains one at a time. */
export type InputRecord = TextRecord | TableRow;

/** What reading needs and reports. */
export interface Reading {
  readonly onBytes: (count: number) => void;
  readonly notes: FileNotes;
  /** Whether a column of a table, or a field of it, is needed. */
  readonly isNeeded: (column: string) => boolean;
}

/** Returns the text of a record: of a row as JSON. */
export const textOf = (record: InputRecord): string => ('row' in record ? JSON.stringify(record.row) : record.text);

/** For who wants the records alone. */
export const unheard = (): Reading => ({ onBytes: () => {}, notes: new FileNotes(), isNeeded: () => true });

/** Longest string of V8, minus a few characters. */
const longestLine = 2 ** 29 - 64;
/** From this number of bytes on, a first line is a JSON object, or no text that is read. */
const longestHeader = 2 ** 20;
/** From this number of bytes on, the nesting of a line is looked at before it is parsed. */
const longLine = 2 ** 20;
/** Deepest nesting of JSON. */
export const deepest = 512;
const tables = /\.(parquet|pq)$/i;
const pickled = /\.(pt|pth|pkl|pickle)$/i;
/** How the first line of a JSON array may go on after its bracket. */
const arrayStart = /^\s*\[\s*([{["\]]|$|(-?\d[\d.eE+-]*|null|true|false|NaN|-?Infinity)\s*([,\]]|$))/;

/**
 * Yields the records of a file, in chunks.
 *
 * @throws PolicyError `limit_exceeded` for a line that is too long for a string, or that is nested too deeply, `invalid_input` for
 *   broken input; the system's error
 */
export async function* recordsOf({ name }: InputFile, reading: Reading): AsyncGenerator<Iterable<InputRecord>> {
  const { onBytes, notes } = reading;
  const file = await opened(name, onBytes);
  const isPiped = name === '-';
  if (!isPiped && pickled.test(name)) {
    await file.close();
    return yield* linesOf(name, pickledLines(name), notes);
  }
  const isTable = file.head.length > 0 && tables.test(name);
  const kind = file.head.length === 0 ? 'text' : isTable ? 'parquet' : kindOf(name, file.head);
  if (isPiped && (kind === 'zip' || kind === 'parquet' || kind === 'pickle'))
    refuse('invalid_input', '-', 'text on standard input: give this file by its name', `a ${kind} file`);
  if (kind === 'pickle' || (kind === 'zip' && (await isTorchFile(name)))) {
    await file.close();
    return yield* linesOf(name, pickledLines(name), notes);
  }
  if (kind === 'parquet') {
    await file.close();
    const { parquetRows } = await import('./parquet.ts');
    return yield* parquetRows(name, reading);
  }
  let isCut = false;
  const onCut = (): void => {
    isCut = true;
  };
  const bytes = textBytes(file, kind, { name, onCut }, onBytes);
  const head: Uint8Array[] = [];
  let first: number | undefined;
  for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
    head.push(next.value);
    first = next.value.find((byte) => byte > 32);
    if (first !== undefined) break;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* head;
      yield* bytes;
    } finally {
      await bytes.return(undefined);
    }
  }
  if (first === 91) yield* elementsOf(name, all(), notes, head.at(-1)!);
  else yield* linesOf(name, all(), notes);
  if (isCut) notes.damage('cutArchive', name, 0);
}

async function* elementsOf(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  notes: FileNotes,
  head: Uint8Array,
): AsyncGenerator<Iterable<InputRecord>> {
  const [line = ''] = Buffer.from(head.subarray(0, 200)).toString('utf8').trimStart().split('\n');
  if (!arrayStart.test(line)) {
    const expected = 'JSON lines, a JSON array, or CSV';
    refuse(
      'invalid_input',
      `${name}:1`,
      expected,
      `a line of a log, or another text that begins with "[": ${line.slice(0, 60)}`,
    );
  }
  const reader = new JsonArrayReader(name, longestLine, deepest);
  for await (const chunk of bytes) yield reader.read(chunk);
  if (!reader.isOver) notes.damage('cutElement', `${name}:${reader.line}`, reader.isWithinElement ? 1 : 0);
}

function checked(name: string, number: number, line: Line, isFirst: boolean): Uint8Array {
  const where = `${name}:${number}`;
  if (typeof line === 'symbol')
    refuse('limit_exceeded', where, `a line of at most ${longestLine} bytes`, 'a longer one');
  if (isFirst && line.length > longestHeader && line[0] !== 123)
    refuse('invalid_input', where, 'a JSON object, or a header', `a line of ${line.length} bytes that is no JSON`);
  if (line.length > longLine && isDeeperThan(line, deepest))
    refuse('limit_exceeded', where, `JSON of at most ${deepest} levels`, 'a deeper nesting');
  return line;
}

/** Returns a line without NUL bytes at its ends. */
function withoutNul(line: Uint8Array): Uint8Array {
  let [from, to] = [0, line.length];
  while (from < to && line[from] === 0) from += 1;
  while (to > from && line[to - 1] === 0) to -= 1;
  return line.subarray(from, to);
}

async function* linesOf(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  notes: FileNotes,
): AsyncGenerator<Iterable<InputRecord>> {
  const reader = new LineReader(longestLine);
  let number = 0;
  let isFirst = true;
  function* lines(read: Iterable<Line>, isUnended: boolean): Generator<InputRecord> {
    for (const one of read) {
      number += 1;
      let line = checked(name, number, one, isFirst);
      if (line[0] === 0 || line[line.length - 1] === 0) {
        line = withoutNul(line);
        notes.damage('nul', `${name}:${number}`, 0);
        if (line.length === 0) continue;
      }
      if (line.length > 0) isFirst = false;
      yield { text: Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'), number, isUnended };
    }
  }
  for await (const chunk of bytes) yield lines(reader.read(chunk), false);
  const rest = reader.rest();
  if (rest !== undefined) yield lines([rest], true);
}
