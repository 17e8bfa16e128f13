/** Reads the lines of a file from any place, in chunks: a log may be longer than a string can be. */
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
  let chunk = Buffer.allocUnsafe(chunkBytes);
  /** Offset in the file of the chunk's first byte, and bytes in the chunk. */
  let [begin, length] = [from, 0];
  for (;;) {
    const read = readSync(file, chunk, length, chunk.length - length, begin + length);
    const searched = length;
    length += read;
    let start = 0;
    for (let end = chunk.indexOf(10, searched); end >= 0 && end < length; end = chunk.indexOf(10, start)) {
      if (begin + start >= until) return;
      const text = end > start ? chunk.toString('utf8', start, end) : '';
      if (text !== '') yield { from: begin + start, to: begin + end + 1, text, ended: true };
      start = end + 1;
    }
    if (begin + start >= until) return;
    if (read === 0) {
      const text = chunk.toString('utf8', start, length);
      if (text !== '') yield { from: begin + start, to: begin + length, text, ended: false };
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
