/** Reads parquet files, a page of each column at a time: memory depends on the pages, and not on the row groups. */
import { isAscii } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import type { ColumnMetaData, DecodedArray, FileMetaData, RowGroup, SchemaTree } from 'hyparquet';
import type { ColumnDecoder } from 'hyparquet/src/types.js';
import { caused, isPolicyError, refuse } from '../../../errors.ts';
import { isSystemError } from '../../terminal/system-errors.ts';
import { compressorsFor } from './parquet-pages.ts';

/** A row of a table, with its number in the file, from 1. */
export interface TableRow {
  readonly row: Readonly<Record<string, unknown>>;
  readonly number: number;
}

/** Options of {@link parquetRows}. */
export interface ParquetOptions {
  /** Whether a column, or a field of a column of objects, is needed. If none is, all columns are read. */
  readonly isNeeded: (column: string) => boolean;
  readonly onBytes: (count: number) => void;
  /** Columns of at most so many bytes are read, too; 1 MB by default. */
  readonly cheapBytes?: number;
}

/** Bounds of what is in memory at once, in bytes without compression. */
const most = {
  footer: 2 ** 26,
  page: 2 ** 27,
  /** Columns of lists and objects are read by row group, since a row may go on from page to page. */
  nested: 2 ** 27,
  nestedValues: 2 ** 24,
};
/** From this number of rows on, a row takes at least a bit for every value that is not always the same. */
const bomb = { fromRows: 1_000_000, rowsPerByte: 16 };
const headerBytes = 1 << 14;
const longestHeader = 1 << 22;

const library = async () => {
  const [metadata, column, convert, group, schema, { flatten }] = await Promise.all([
    import('hyparquet/src/metadata.js'),
    import('hyparquet/src/column.js'),
    import('hyparquet/src/convert.js'),
    import('hyparquet/src/rowgroup.js'),
    import('hyparquet/src/schema.js'),
    import('hyparquet/src/utils.js'),
  ]);
  return { ...metadata, ...column, ...convert, ...group, ...schema, flatten };
};
type Library = Awaited<ReturnType<typeof library>>;

interface Source {
  readonly name: string;
  readonly file: FileHandle;
  readonly bytes: number;
  readonly lib: Library;
  readonly metadata: FileMetaData;
  readonly schema: SchemaTree;
  readonly decoding: Pick<ColumnDecoder, 'compressors' | 'parsers'>;
  readonly onBytes: (count: number) => void;
}

async function bytesAt(file: FileHandle, from: number, length: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(new ArrayBuffer(Math.max(0, length)));
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done === bytes.length ? bytes.buffer : bytes.buffer.slice(0, done);
}

/** Returns bytes as text. Most texts are ASCII, which takes a third of the time of UTF-8. */
function text(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}

async function opened(name: string, file: FileHandle, onBytes: (count: number) => void): Promise<Source> {
  const lib = await library();
  const { size } = await file.stat();
  const tail = Buffer.from(await bytesAt(file, Math.max(0, size - 8), 8));
  if (size < 12 || tail.toString('latin1', 4) !== 'PAR1')
    refuse(
      'invalid_input',
      name,
      'a whole parquet file, which has its list of contents at its end',
      'its beginning only',
    );
  const length = tail.readUInt32LE(0);
  if (length > Math.min(most.footer, size - 12))
    refuse('invalid_input', name, `a list of contents of at most ${Math.min(most.footer, size - 12)} bytes`, length);
  const metadata = lib.parquetMetadata(await bytesAt(file, size - 8 - length, length + 8), { geoparquet: false });
  const parsers = { ...lib.DEFAULT_PARSERS, stringFromBytes: text };
  const decoding = { compressors: await compressorsFor(most.page), parsers };
  return { name, file, bytes: size, lib, metadata, schema: lib.parquetSchema(metadata), decoding, onBytes };
}

/** Where a column of a row group begins and ends in the file. */
function rangeOf({ name, bytes }: Source, column: ColumnMetaData): readonly [from: number, to: number] {
  const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: length } = column;
  const from = Number(dictionary === undefined || dictionary === 0n || dictionary > data ? data : dictionary);
  const to = from + Number(length);
  if (from < 4 || to > bytes || to < from)
    refuse('invalid_input', name, 'a whole parquet file', 'a column outside of it');
  return [from, to];
}

interface Page {
  readonly header: ReturnType<Library['parquetHeader']>;
  readonly values: number;
  /** Place of its content in the file. */
  readonly at: number;
}

/** Yields the headers of the pages of a column. Throws for pages that are larger, or that have more values, than they may. */
async function* pagesOf(source: Source, column: ColumnMetaData, mostValues: number): AsyncGenerator<Page> {
  const { file, lib, name } = source;
  const [from, to] = rangeOf(source, column);
  let left = mostValues;
  for (let at = from; at < to && left > 0; ) {
    let page: Page | undefined;
    for (let length = headerBytes; page === undefined; length *= 16) {
      const reader = { view: new DataView(await bytesAt(file, at, Math.min(length, to - at))), offset: 0 };
      try {
        const header = lib.parquetHeader(reader);
        const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
        page = { header, values: (v1 ?? v2 ?? dictionary)?.num_values ?? 0, at: at + reader.offset };
      } catch (error) {
        if (!(error instanceof RangeError) || length >= longestHeader || length >= to - at) throw error;
      }
    }
    const { header, values } = page;
    const size = Math.max(header.compressed_page_size, header.uncompressed_page_size);
    if (size > most.page) {
      const where = `${name}: column ${column.path_in_schema.join('.')}`;
      refuse('limit_exceeded', where, `pages of at most ${most.page} bytes (data_page_size, 1 MB by default)`, size);
    }
    const isData = header.type !== 'DICTIONARY_PAGE';
    // A value of a dictionary has at least its length in the page, or one bit.
    const mostHere = isData ? left : 8 * size;
    if (
      values < 0 ||
      values > mostHere ||
      header.compressed_page_size < 0 ||
      page.at + header.compressed_page_size > to
    )
      refuse('invalid_input', name, 'a whole parquet file', 'a page outside of its column');
    if (isData) left -= values;
    yield page;
    at = page.at + header.compressed_page_size;
  }
}

/** The values of a column in the current page. */
interface Cursor {
  readonly column: string;
  values: DecodedArray;
  at: number;
  /** Reads the next page. */
  next(): Promise<void>;
  close(): Promise<unknown>;
}

function flatCursor(source: Source, meta: ColumnMetaData, schemaPath: SchemaTree[], rows: number): Cursor {
  const { lib, file, name, decoding, onBytes } = source;
  const decoder = {
    ...meta,
    ...decoding,
    pathInSchema: meta.path_in_schema,
    element: schemaPath.at(-1)!.element,
    schemaPath,
  };
  const pages = pagesOf(source, meta, rows);
  let dictionary: DecodedArray | undefined;
  return {
    column: meta.path_in_schema[0]!,
    values: [],
    at: 0,
    async next() {
      for (let one = await pages.next(); one.done !== true; one = await pages.next()) {
        const { header, at } = one.value;
        const view = new DataView(await bytesAt(file, at, header.compressed_page_size));
        onBytes(view.byteLength);
        const { data } = lib.readPage({ view, offset: 0 }, header, decoder, dictionary, undefined, 0);
        if (data === undefined) continue;
        if (header.type === 'DICTIONARY_PAGE') {
          dictionary = lib.convert(data, decoder);
          continue;
        }
        [this.values, this.at] = [data, 0];
        if (data.length > 0) return;
      }
      refuse('invalid_input', name, `a parquet file with ${rows} values in each column of a row group`, 'fewer');
    },
    close: () => pages.return(undefined),
  };
}

async function nestedCursor(source: Source, column: string, rowGroup: RowGroup, group: number): Promise<Cursor> {
  const { lib, file, name, metadata, schema, decoding, onBytes } = source;
  const where = `${name}: row group ${group + 1}, column ${column}`;
  const rows = Number(rowGroup.num_rows);
  const metas = metasOf(rowGroup).filter(({ path_in_schema: [top] }) => top === column);
  const bytes = metas.reduce((sum, one) => sum + Number(one.total_uncompressed_size), 0);
  if (bytes > most.nested) {
    const expected = `at most ${most.nested} bytes of lists in a row group: write it with row_group_size=${Math.max(1, Math.floor((rows * most.nested) / bytes / 2))}`;
    refuse('limit_exceeded', where, expected, bytes);
  }
  let found = 0;
  for (const meta of metas) {
    for await (const { header } of pagesOf(source, meta, most.nestedValues)) {
      found += header.uncompressed_page_size;
      if (found > most.nested)
        refuse('limit_exceeded', where, `at most ${most.nested} bytes of lists in a row group`, 'more');
    }
  }
  const slice = async (from: number, to = source.bytes): Promise<ArrayBuffer> => {
    onBytes(to - from);
    return bytesAt(file, from, to - from);
  };
  const chunks = metas.map((columnMetadata) => {
    const [startByte, endByte] = rangeOf(source, columnMetadata);
    return { columnMetadata, range: { startByte, endByte } };
  });
  const selected = { chunks, rowGroup, groupStart: 0, selectStart: 0, selectEnd: rows, groupRows: rows };
  const options = { file: { byteLength: source.bytes, slice }, metadata, ...decoding };
  const read = lib.readRowGroup(
    options,
    { metadata, fetches: [], groups: [selected], rowStart: 0, rowEnd: rows },
    selected,
  );
  const [assembled] = lib.assembleAsync(read, schema, decoding.parsers).asyncColumns;
  const values = lib.flatten((await assembled!.data).data);
  return {
    column,
    values,
    at: 0,
    async next() {
      refuse('invalid_input', where, `${rows} rows`, values.length);
    },
    close: async () => undefined,
  };
}

const metasOf = (group: RowGroup): ColumnMetaData[] => group.columns.flatMap(({ meta_data: meta }) => meta ?? []);

/** A value as JSON has it: a row of a table is read like a line of JSON. */
function plain(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
      return Number(value);
    case 'undefined':
      return null;
    case 'object': {
      if (value === null) return null;
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
      if (Array.isArray(value)) return value.map(plain);
      if (ArrayBuffer.isView(value)) return text(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
    }
    default:
      return value;
  }
}

/** Yields the next rows; when they have been read, the cursors are behind them. */
function* rowsOf(cursors: readonly Cursor[], count: number, first: number): Generator<TableRow> {
  for (let index = 0; index < count; index += 1) {
    const row: Record<string, unknown> = {};
    for (const cursor of cursors) row[cursor.column] = plain(cursor.values[cursor.at + index]);
    yield { row, number: first + index };
  }
}

async function* groupRows(source: Source, group: number, wanted: ReadonlySet<string>, first: number) {
  const { lib, metadata, schema, name } = source;
  const rowGroup = metadata.row_groups[group]!;
  const rows = Number(rowGroup.num_rows);
  if (metasOf(rowGroup).length < rowGroup.columns.length)
    refuse('invalid_input', name, 'a parquet file in one piece, without encryption', 'columns that are elsewhere');
  const cursors: Cursor[] = [];
  try {
    for (const meta of metasOf(rowGroup)) {
      const column = meta.path_in_schema[0]!;
      if (!wanted.has(column) || cursors.some((one) => one.column === column)) continue;
      const path = lib.getTreePath(schema, meta.path_in_schema);
      const isFlat = lib.isFlatColumn(path);
      cursors.push(isFlat ? flatCursor(source, meta, path, rows) : await nestedCursor(source, column, rowGroup, group));
    }
    for (let left = rows; left > 0; ) {
      for (const cursor of cursors) if (cursor.at >= cursor.values.length) await cursor.next();
      const count = Math.min(left, ...cursors.map(({ values, at }) => values.length - at));
      yield rowsOf(cursors, count, first + rows - left);
      for (const cursor of cursors) cursor.at += count;
      left -= count;
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/** Returns the columns to read: those that are needed, and those that cost little, as a format may be known by them. */
function wantedOf({ metadata, schema }: Source, { isNeeded, cheapBytes = 2 ** 20 }: ParquetOptions): Set<string> {
  const bytes = new Map(schema.children.map(({ element }) => [element.name, 0]));
  const needed = new Set<string>();
  for (const { path_in_schema: path, total_uncompressed_size: size } of metadata.row_groups.flatMap(metasOf)) {
    const column = path[0]!;
    bytes.set(column, (bytes.get(column) ?? 0) + Number(size));
    if (path.some(isNeeded)) needed.add(column);
  }
  const isAll = needed.size === 0;
  return new Set([...bytes].flatMap(([name, count]) => (isAll || needed.has(name) || count <= cheapBytes ? name : [])));
}

/**
 * Yields the rows of a parquet file, in chunks, each to be read before the next.
 *
 * @throws PolicyError `invalid_input` for a broken file, `limit_exceeded` for pages, and for lists of a row group, that are too large
 *   for the memory; the system's error
 */
export async function* parquetRows(name: string, options: ParquetOptions): AsyncGenerator<Iterable<TableRow>> {
  const file = await open(name);
  try {
    const source = await opened(name, file, options.onBytes);
    const rows = source.metadata.row_groups.reduce((sum, one) => sum + Number(one.num_rows), 0);
    if (rows > Math.max(bomb.fromRows, bomb.rowsPerByte * source.bytes))
      refuse(
        'limit_exceeded',
        name,
        `at most ${bomb.rowsPerByte} rows for each byte of the file`,
        `${rows} rows in ${source.bytes} bytes`,
      );
    const wanted = wantedOf(source, options);
    let first = 1;
    for (const [group, { num_rows: rows }] of source.metadata.row_groups.entries()) {
      yield* groupRows(source, group, wanted, first);
      first += Number(rows);
    }
  } catch (error) {
    if (isPolicyError(error) || isSystemError(error)) throw error;
    refuse(
      'invalid_input',
      name,
      'a parquet file that is read (snappy, gzip, zstd, brotli or no compression)',
      caused(error),
      error,
    );
  } finally {
    await file.close();
  }
}
