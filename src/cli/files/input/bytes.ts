/** The bytes of a file, or of standard input, as UTF-8: unpacked and converted from UTF-16 if their first bytes say so. */
import { createReadStream } from 'node:fs';
import { refuse } from '../../../errors.ts';
import { encodingOf, type Kind, kindOf } from './kinds.ts';
import { gunzipped, type Unpacking, unzstd } from './unpacked.ts';
import { unzipped } from './zip.ts';

type Bytes = AsyncIterable<Uint8Array>;

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

async function* counted(source: Bytes, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** Opens a file; `onBytes` receives the number of bytes of each read. Throws the system's error. */
export const opened = (name: string, onBytes: (count: number) => void): Promise<Opened> =>
  withHead(counted(name === '-' ? process.stdin : createReadStream(name, { highWaterMark: 1 << 20 }), onBytes));

async function unpacked(
  file: Opened,
  kind: Kind,
  unpacking: Unpacking,
  onBytes: (count: number) => void,
): Promise<Opened> {
  if (kind === 'gzip') return withHead(gunzipped(file.rest, unpacking));
  if (kind === 'zstd') return withHead(unzstd(file.rest, unpacking));
  await file.close();
  return withHead(unzipped(unpacking, onBytes));
}

/**
 * Yields the content of a file as UTF-8, without a byte-order mark.
 *
 * @param kind - what the file is: text, or what contains text
 * @param onBytes - receives the bytes that are read again, from a zip archive
 * @throws PolicyError `invalid_input` for a broken archive, and for one that contains no text; `limit_exceeded` for one that was
 *   made to fill a memory
 */
export async function* textBytes(
  file: Opened,
  kind: Kind,
  unpacking: Unpacking,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const { name } = unpacking;
  const isPacked = kind !== 'text';
  const { head, rest } = isPacked ? await unpacked(file, kind, unpacking, onBytes) : file;
  if (isPacked && head.length > 0 && kindOf(name, head) !== 'text')
    refuse(
      'invalid_input',
      `${name}:1`,
      `text in it: unpack it first`,
      `a ${kindOf(name, head)} file in a ${kind} file`,
    );
  const encoding = encodingOf(head);
  if (encoding === undefined) {
    const mark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
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
