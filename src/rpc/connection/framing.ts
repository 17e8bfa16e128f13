/** Framing: splits bytes into lines, and parses lines as JSON, within bounds. */
import type { HalfLine, HalfLines } from './half-lines.ts';

const newline = 10;
const quote = 34;
const backslash = 92;
const nothing = new Uint8Array(0);

/** A line that is longer than allowed; its bytes are not kept. */
export const tooLong = Symbol('too long');
/** A line that was dropped to make room for other connections; its bytes are not kept. */
export const crowdedOut = Symbol('crowded out');

/** A line, or the reason for its absence. */
export type Line = Uint8Array | typeof tooLong | typeof crowdedOut;

/** Cuts bytes into lines. The bytes of too long lines are dropped on arrival. */
export class LineReader implements HalfLine {
  /** Longest line, in bytes. */
  longest: number;
  readonly #room: HalfLines | undefined;
  /** The beginning of a line, in a buffer with spare room: a list of small chunks would take more memory than their bytes. */
  #begun = nothing;
  #length = 0;
  #crowdedOut = false;

  /** @param room - memory for incomplete lines, shared with other readers; unbounded if absent */
  constructor(longest: number, room?: HalfLines) {
    this.longest = longest;
    this.#room = room;
  }

  /** Yields the lines whose end is in these bytes, without line breaks. A line may be a view of the bytes. */
  *read(bytes: Uint8Array): Generator<Line> {
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      yield this.#take(bytes.subarray(from, at));
      from = at + 1;
    }
    this.#add(bytes.subarray(from));
  }

  /** Returns the text after the last line break; `undefined` if there is none. */
  rest(): Line | undefined {
    return this.#length === 0 ? undefined : this.#take(nothing);
  }

  /** Drops the incomplete line, and all bytes that arrive later. */
  close(): void {
    this.longest = 0;
    this.#drop();
  }

  crowdOut(): void {
    this.#crowdedOut = true;
    this.#begun = nothing;
  }

  #drop(): void {
    this.#begun = nothing;
    this.#room?.hold(this, 0);
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const length = this.#length + bytes.length;
    if (length > this.longest) this.#drop();
    else if (!this.#crowdedOut) {
      if (length > this.#begun.length) {
        const larger = new Uint8Array(Math.min(Math.max(2 * this.#begun.length, length), this.longest));
        larger.set(this.#begun.subarray(0, this.#length));
        this.#begun = larger;
      }
      this.#begun.set(bytes, this.#length);
      this.#room?.hold(this, this.#begun.length);
    }
    this.#length = length;
  }

  #take(bytes: Uint8Array): Line {
    if (this.#length === 0) return bytes.length > this.longest ? tooLong : bytes;
    this.#add(bytes);
    const [length, line, isCrowdedOut] = [this.#length, this.#begun, this.#crowdedOut];
    this.#drop();
    this.#length = 0;
    this.#crowdedOut = false;
    if (length > this.longest) return tooLong;
    return isCrowdedOut ? crowdedOut : line.subarray(0, length);
  }
}

/** Whether lists and objects in a JSON text are nested deeper than allowed; brackets in strings do not count. */
export function isDeeperThan(line: Uint8Array, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at]!;
    if (byte === quote) {
      // Strings in events are short, so a scan of each byte costs half as much as a search for the end.
      for (at += 1; at < line.length && line[at] !== quote; at += 1) if (line[at] === backslash) at += 1;
      // `[` and `{` differ in one bit, and so do `]` and `}`.
    } else if ((byte | 32) === 123) {
      depth += 1;
      if (depth > most) return true;
    } else if ((byte | 32) === 125) depth -= 1;
  }
  return false;
}

const headBytes = 512;
const opening = /^\s*\{[^{}[\]]*"method"\s*:\s*"session\.open"/;

/** Whether a line is a call of `session.open`, judged by its beginning. */
export function isOpening(line: Uint8Array): boolean {
  let head = '';
  for (let at = 0; at < line.length && at < headBytes; at += 1) head += String.fromCharCode(line[at]!);
  return opening.test(head);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses a line. Throws the errors of `JSON.parse` and of the text decoder. */
export function parseLine(line: Uint8Array): unknown {
  return JSON.parse(decoder.decode(line));
}
