/** Reads files in chunks, from any place: a log may be longer than a string can be. */
import { isAscii } from 'node:buffer';
import { readSync } from 'node:fs';
import { splitLines } from '../format/decision-log.ts';

const chunkBytes = 1 << 20;

/** Returns the bytes of an open file, from an offset to another or to its end. A chunk is valid until the next one. */
export function* chunksOf(file: number, from = 0, until = Number.POSITIVE_INFINITY): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(chunkBytes, until - from)));
  for (let at = from; at < until; ) {
    const length = readSync(file, chunk, 0, Math.min(chunk.length, until - at), at);
    if (length === 0) return;
    yield chunk.subarray(0, length);
    at += length;
  }
}

/** A line of a file. */
export interface FileLine {
  /** Offset of the first byte. */
  readonly from: number;
  /** Offset after the line break. */
  readonly to: number;
  readonly text: string;
  /** Whether the line ends with a line break; only the last line of a file may lack one. */
  readonly ended: boolean;
}

/**
 * Returns the lines in a part of an open file, without empty lines. A line of this part must not continue after it.
 *
 * @param name - name of the file
 * @throws PolicyError `limit_exceeded` for a line of 256 MiB or more
 */
export function* linesIn(name: string, file: number, from: number, until?: number): Generator<FileLine> {
  let isPlain = true;
  // The text has one character per byte, so that offsets in the text are offsets in the file.
  function* pieces(): Generator<string> {
    for (const bytes of chunksOf(file, from, until)) {
      isPlain &&= isAscii(bytes);
      yield bytes.toString('latin1');
    }
  }
  for (const line of splitLines(pieces(), () => name)) {
    const { ended } = line;
    const begin = from + line.from;
    const end = begin + line.text.length;
    const text = isPlain ? line.text : Buffer.from(line.text, 'latin1').toString('utf8');
    yield { from: begin, to: ended ? end + 1 : end, text, ended };
  }
}
