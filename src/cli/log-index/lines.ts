/** Reads the lines of a file from any place, in chunks: a log may be longer than a string can be. */
import { isAscii } from 'node:buffer';
import { readSync } from 'node:fs';

const chunkBytes = 1 << 20;

/** A line of a file. */
export interface FileLine {
  /** Offset of its first byte. */
  readonly from: number;
  /** Offset behind its line break. */
  readonly to: number;
  readonly text: string;
  /** Whether a line break ends it; only the last line of a file may have none. */
  readonly ended: boolean;
}

/** Returns the lines of an open file that begin in a range, empty lines left out. */
export function* linesIn(file: number, from: number, until = Number.POSITIVE_INFINITY): Generator<FileLine> {
  let chunk = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, until - from)));
  /** Offset in the file of the chunk's first byte, and bytes in the chunk. */
  let [begin, length] = [from, 0];
  for (;;) {
    const read = readSync(file, chunk, length, chunk.length - length, begin + length);
    const searched = length;
    length += read;
    // One character for each byte: a text is searched and cut faster than a buffer.
    const bytes = chunk.toString('latin1', 0, length);
    const isPlain = isAscii(chunk.subarray(0, length));
    const textOf = (start: number, end: number): string =>
      isPlain ? bytes.slice(start, end) : chunk.toString('utf8', start, end);
    let start = 0;
    for (let end = bytes.indexOf('\n', searched); end >= 0; end = bytes.indexOf('\n', start)) {
      if (begin + start >= until) return;
      if (end > start) yield { from: begin + start, to: begin + end + 1, text: textOf(start, end), ended: true };
      start = end + 1;
    }
    if (begin + start >= until) return;
    if (read === 0) {
      if (length > start) yield { from: begin + start, to: begin + length, text: textOf(start, length), ended: false };
      return;
    }
    // What is left over begins the next chunk, which is twice as long if one line fills this one.
    const next = start === 0 && length === chunk.length ? Buffer.allocUnsafe(chunk.length * 2) : chunk;
    chunk.copy(next, 0, start, length);
    chunk = next;
    begin += start;
    length -= start;
  }
}
