/** Reads the lines of a file, or the elements of a file that is one JSON array, one at a time. */
import { refuse } from '../../../errors.ts';
import { type Line, LineReader } from '../../../rpc/connection/framing.ts';
import { JsonArrayReader } from '../../../sim/trace/json-array.ts';
import { isPickle, opened, textBytes } from './bytes.ts';
import type { InputFile } from './paths.ts';
import { pickledLines } from './pickles.ts';

/** A line or an element, with the number of its line in the file, from 1. */
export interface InputRecord {
  readonly text: string;
  readonly number: number;
}

/** Longest string of V8, minus a few characters. */
const longestLine = 2 ** 29 - 64;
const pickled = /\.(pt|pth|pkl|pickle)$/i;

/**
 * Yields the records of a file, in chunks.
 *
 * @throws PolicyError `limit_exceeded` for a line that is too long for a string, `invalid_input` for broken input; the system's
 *   error
 */
export async function* recordsOf(
  { name }: InputFile,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<Iterable<InputRecord>> {
  const file = await opened(name, onBytes);
  if (name !== '-' && (pickled.test(name) || isPickle(file.head))) {
    await file.close();
    return yield* linesOf(name, pickledLines(name));
  }
  const bytes = textBytes(name, file);
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
  if (first === 91) yield* elementsOf(name, all());
  else yield* linesOf(name, all());
}

async function* elementsOf(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<InputRecord>> {
  const reader = new JsonArrayReader(name, longestLine);
  for await (const chunk of bytes) yield reader.read(chunk);
  reader.end();
}

async function* linesOf(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<InputRecord>> {
  const reader = new LineReader(longestLine);
  let number = 0;
  function* lines(read: Iterable<Line>): Generator<InputRecord> {
    for (const one of read) {
      number += 1;
      if (typeof one === 'symbol') {
        const expected = `a line of at most ${longestLine} bytes`;
        refuse('limit_exceeded', `${name}:${number}`, expected, 'a longer one');
      }
      yield { text: Buffer.from(one.buffer, one.byteOffset, one.length).toString('utf8'), number };
    }
  }
  for await (const chunk of bytes) yield lines(reader.read(chunk));
  const rest = reader.rest();
  if (rest !== undefined) yield lines([rest]);
}
