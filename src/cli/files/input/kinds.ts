/** What a file is, by its first bytes: text, something that contains text, or something else, with the way on. */
import { refuse } from '../../../errors.ts';

/** Kinds that are read: `pickle` is one that is not in a zip archive. */
export type Kind = 'text' | 'gzip' | 'zstd' | 'zip' | 'parquet' | 'pickle';

const text = 'text (JSON lines, JSON, CSV), parquet, or gzip, zstd or zip of text';
const piped = (program: string): string => `its text: ${program} FILE | rollflex import -`;
const saved = (program: string): string => `parquet or CSV: ${program}`;
const arrow = saved(`python -c "import pyarrow.feather as f; f.read_feather('FILE').to_parquet('FILE.parquet')"`);
const arrowStream = saved(`python -c "import datasets; datasets.Dataset.from_file('FILE').to_parquet('FILE.parquet')"`);

const read: readonly (readonly [kind: Kind, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 3, 4]],
  ['zip', [0x50, 0x4b, 5, 6]],
  ['parquet', [0x50, 0x41, 0x52, 0x31]],
];

/** First bytes of other files, with what is expected in their place. */
const others: readonly (readonly [what: string, bytes: string | readonly number[], expected: string])[] = [
  ['a file of xz', [0xfd, 0x37, 0x7a, 0x58], piped('xz -dc')],
  ['a file of bzip2', [0x42, 0x5a, 0x68, 0x39], piped('bzip2 -dc')],
  ['a file of LZ4', [0x04, 0x22, 0x4d, 0x18], piped('lz4 -dc')],
  ['an encrypted parquet file', 'PARE', 'a parquet file without encryption'],
  ['an Arrow or Feather file', 'ARROW1', arrow],
  ['an Arrow stream', [0xff, 0xff, 0xff, 0xff], arrowStream],
  [
    'a database of SQLite',
    'SQLite format 3\0',
    `a table of it: sqlite3 -csv -header FILE 'select * from TABLE' | rollflex import -  (sqlite3 FILE .tables lists them)`,
  ],
  ['an old Excel workbook (.xls)', [0xd0, 0xcf, 0x11, 0xe0], 'CSV: save the sheet as "CSV UTF-8"'],
  ['an array of NumPy', [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59], saved('numpy.savetxt, with a line a response')],
  ['a file of HDF5', [0x89, 0x48, 0x44, 0x46], saved('pandas.read_hdf(…).to_parquet(…)')],
  ['a PDF', '%PDF-', text],
];

const matches = (head: Uint8Array, bytes: string | readonly number[]): boolean =>
  typeof bytes === 'string'
    ? Buffer.from(head.subarray(0, bytes.length)).toString('latin1') === bytes
    : bytes.every((byte, at) => head[at] === byte);

/** Whether the first bytes are those of a pickle. */
const isPickle = (head: Uint8Array): boolean =>
  head[0] === 0x80 && head[1] !== undefined && head[1] >= 2 && head[1] <= 5;

/** Detects UTF-16 by a byte-order mark, or because every second of the first bytes is 0. */
export function encodingOf(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (matches(head, [0xff, 0xfe])) return 'utf-16le';
  if (matches(head, [0xfe, 0xff])) return 'utf-16be';
  const zeros = (from: 0 | 1): boolean => {
    for (let at = 0; at < Math.min(4, head.length); at += 1) if ((head[at] === 0) !== (at % 2 === from)) return false;
    return head.length >= 4;
  };
  if (zeros(1)) return 'utf-16le';
  return zeros(0) ? 'utf-16be' : undefined;
}

/** Bytes that no text has: control characters other than white space and escape. JSON may have a bare DEL. */
const isControl = (byte: number): boolean => byte < 32 && byte !== 27 && !(byte >= 8 && byte <= 13);
const looked = 512;
const newline = 10;

/**
 * Whether these are no bytes of text. NUL bytes at the end of a file, or where a line begins, are what is left where a writer was
 * stopped.
 */
function isBinary(head: Uint8Array): boolean {
  let end = head.length;
  while (end > 0 && head[end - 1] === 0) end -= 1;
  let last: number | undefined;
  for (const byte of head.subarray(0, Math.min(end, looked))) {
    if (byte === 0 ? last !== newline : isControl(byte)) return true;
    if (byte !== 0) last = byte;
  }
  return false;
}

/**
 * Returns what a file is.
 *
 * @param name - its name, for the error
 * @param head - its first bytes: all, or at least 512
 * @throws PolicyError `invalid_input` for a file that is not read, with the way on
 */
export function kindOf(name: string, head: Uint8Array): Kind {
  const known = read.find(([, bytes]) => matches(head, bytes));
  if (known !== undefined) return known[0];
  const other = others.find(([, bytes]) => matches(head, bytes));
  if (other !== undefined) {
    const [what, , expected] = other;
    refuse('invalid_input', `${name}:1`, expected.replaceAll('FILE', name), what);
  }
  if (isPickle(head)) return 'pickle';
  if (encodingOf(head) !== undefined) return 'text';
  if (matches(head.subarray(257), 'ustar'))
    refuse('invalid_input', `${name}:1`, 'its files: tar -xf FILE'.replace('FILE', name), 'a tar archive');
  if (isBinary(head)) refuse('invalid_input', `${name}:1`, text, 'a binary file');
  return 'text';
}
