/** Framing: bytes to lines, and lines to JSON, with their bounds. */

const newline = 10;
const quote = 34;
const backslash = 92;

/** A line that is longer than allowed; its bytes are not kept. */
export const tooLong = Symbol('too long');

/** Cuts bytes into lines. What is longer than allowed is dropped as it comes. */
export class LineReader {
  /** Longest line, in bytes. */
  longest: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(longest: number) {
    this.longest = longest;
  }

  /** The lines that these bytes end, without their line breaks. */
  *read(bytes: Uint8Array): Generator<Uint8Array | typeof tooLong> {
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      this.#add(bytes.subarray(from, at));
      from = at + 1;
      yield this.#take();
    }
    this.#add(bytes.subarray(from));
  }

  /** What stands after the last line break, if anything does. */
  rest(): Uint8Array | typeof tooLong | undefined {
    return this.#length === 0 ? undefined : this.#take();
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length <= this.longest) this.#parts.push(bytes);
    else this.#parts = [];
  }

  #take(): Uint8Array | typeof tooLong {
    const length = this.#length;
    const [first, ...others] = this.#parts;
    this.#parts = [];
    this.#length = 0;
    if (length > this.longest) return tooLong;
    if (first === undefined) return new Uint8Array(0);
    if (others.length === 0) return first;
    const line = new Uint8Array(length);
    let at = 0;
    for (const part of [first, ...others]) {
      line.set(part, at);
      at += part.length;
    }
    return line;
  }
}

/** Whether lists and objects of a JSON text are nested deeper than allowed; strings are passed over. */
export function isDeeperThan(line: Uint8Array, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at]!;
    if (byte === quote) {
      do {
        at = line.indexOf(quote, at + 1);
        if (at === -1) return false;
      } while (isEscaped(line, at));
      // `[` and `{`, `]` and `}` differ from each other in one bit.
    } else if ((byte | 32) === 123) {
      depth += 1;
      if (depth > most) return true;
    } else if ((byte | 32) === 125) depth -= 1;
  }
  return false;
}

/** Whether an odd number of backslashes stands before a byte. */
function isEscaped(line: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && line[before] === backslash) before -= 1;
  return (at - before) % 2 === 0;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The value of a line. Throws what `JSON.parse` or the decoder throws. */
export function parseLine(line: Uint8Array): unknown {
  return JSON.parse(decoder.decode(line));
}
