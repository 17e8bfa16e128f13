/** The bytes of a file, or of standard input, as UTF-8: unzipped and converted from UTF-16 if their first bytes say so. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { refuse } from '../../../errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** First bytes of common files that are not text. */
const others: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ['a zip archive', [0x50, 0x4b, 3, 4]],
  ['a file of zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['a file of xz', [0xfd, 0x37, 0x7a, 0x58]],
  ['a file of bzip2', [0x42, 0x5a, 0x68]],
  ['a parquet file', [0x50, 0x41, 0x52, 0x31]],
];
const headBytes = 512;

/** A stream of bytes; its first bytes are already read. The rest is read once, or the stream is closed. */
export interface Opened {
  readonly head: Uint8Array;
  /** All bytes of the file, including the head. */
  readonly rest: Bytes;
  close(): Promise<unknown>;
}

async function withHead(source: AsyncIterator<Uint8Array>): Promise<Opened> {
  let head = new Uint8Array(0);
  let isOver = false;
  while (head.length < headBytes && !isOver) {
    const next = await source.next();
    isOver = next.done === true;
    if (!isOver) head = Buffer.concat([head, next.value as Uint8Array]);
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      if (head.length > 0) yield head;
      if (isOver) return;
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { head, rest: rest(), close: async () => source.return?.() };
}

const begins = (head: Uint8Array, bytes: readonly number[]): boolean => bytes.every((byte, at) => head[at] === byte);

/** Whether the first bytes are those of a `torch.save` file, or of a pickle. */
export const isPickle = (head: Uint8Array): boolean =>
  begins(head, [0x50, 0x4b, 3, 4]) || (head[0] === 0x80 && head[1] !== undefined && head[1] >= 2 && head[1] <= 5);

async function* counted(source: Bytes, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** Opens a file; `onBytes` receives the number of bytes of each read. Throws the system's error. */
export const opened = (name: string, onBytes: (count: number) => void): Promise<Opened> =>
  withHead(counted(name === '-' ? process.stdin : createReadStream(name, { highWaterMark: 1 << 20 }), onBytes));

/**
 * Yields the content of a file as UTF-8, without a byte-order mark.
 *
 * @throws PolicyError `invalid_input` for a broken gzip file, and for a binary file
 */
export async function* textBytes(name: string, file: Opened): AsyncGenerator<Uint8Array> {
  let { head, rest } = file;
  if (begins(head, [0x1f, 0x8b])) ({ head, rest } = await withHead(unzipped(name, rest)));
  const encoding = encodingOf(name, head);
  if (encoding === undefined) {
    const mark = begins(head, [0xef, 0xbb, 0xbf]) ? 3 : 0;
    let isFirst = mark > 0;
    for await (const chunk of rest) {
      yield isFirst ? chunk.subarray(mark) : chunk;
      isFirst = false;
    }
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const chunk of rest) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}

/** Detects UTF-16 by a byte-order mark, or because every second of the first bytes is 0. */
function encodingOf(name: string, head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (begins(head, [0xff, 0xfe])) return 'utf-16le';
  if (begins(head, [0xfe, 0xff])) return 'utf-16be';
  const zeros = (from: 0 | 1): boolean => {
    for (let at = 0; at < Math.min(4, head.length); at += 1) if ((head[at] === 0) !== (at % 2 === from)) return false;
    return head.length >= 4;
  };
  if (zeros(1)) return 'utf-16le';
  if (zeros(0)) return 'utf-16be';
  const other =
    others.find(([, bytes]) => begins(head, bytes))?.[0] ?? (head.includes(0) ? 'a binary file' : undefined);
  if (other === undefined) return undefined;
  refuse('invalid_input', `${name}:1`, 'text (JSON lines, CSV), or gzip of it', other);
}

async function* unzipped(name: string, source: Bytes): AsyncGenerator<Uint8Array> {
  const from = Readable.from(source, { objectMode: false });
  const gunzip = createGunzip();
  from.on('error', (error) => gunzip.destroy(error));
  let lines = 1;
  try {
    for await (const chunk of from.pipe(gunzip)) {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
      yield chunk;
    }
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('Z_')) throw error;
    const got = `${(error as Error).message}`;
    refuse('invalid_input', `${name}:${lines}`, 'a whole gzip file', got);
  } finally {
    from.destroy();
  }
}
