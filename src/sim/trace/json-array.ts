/**
 * Reads the elements of a JSON array one by one, however long the array is: the text of each element, and its first line number.
 */
import { PolicyError, refuse } from '../../errors.ts';

/** An element, with the number of its first line. */
export interface ArrayElement {
  readonly text: string;
  readonly number: number;
}

const [newline, quote, backslash, comma] = [10, 34, 92, 44];
const [open, close] = [91, 93];
/** `[` and `{` differ in one bit, and so do `]` and `}`. */
const [anyOpen, anyClose] = [123, 125];
/** NUL bytes are what a file system leaves where a writer was stopped. */
const isSpace = (byte: number): boolean => byte === 32 || byte === 0 || (byte >= 9 && byte <= 13);

/** Cuts the bytes of a JSON array into its elements. */
export class JsonArrayReader {
  readonly #file: string;
  readonly #longest: number;
  readonly #deepest: number;
  readonly #decoder = new TextDecoder();
  #chunks: Uint8Array[] = [];
  #length = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isOver = false;
  #line = 1;
  #begunAt: number | undefined;

  /**
   * @param longest - most bytes of an element
   * @param deepest - most levels of lists and objects
   */
  constructor(file: string, longest: number, deepest = 512) {
    this.#file = file;
    this.#longest = longest;
    this.#deepest = deepest;
  }

  /** Whether the array has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether an element has begun that has not ended. */
  get isWithinElement(): boolean {
    return this.#begunAt !== undefined;
  }

  /** The line that is being read, from 1. */
  get line(): number {
    return this.#line;
  }

  /**
   * Yields the elements that end in these bytes. Throws `invalid_input` if the input is no array, or continues after its end, and
   * `limit_exceeded` for an element that is too long, or nested too deeply.
   */
  *read(bytes: Uint8Array): Generator<ArrayElement> {
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === newline) this.#line += 1;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#inString = false;
        continue;
      }
      if (isSpace(byte)) continue;
      if (this.#isOver) throw this.#refused('nothing after the array', String.fromCharCode(byte));
      if (this.#depth === 0) {
        if (byte !== open) throw this.#refused('a JSON array', String.fromCharCode(byte));
        this.#depth = 1;
        from = at + 1;
        continue;
      }
      if (this.#depth === 1 && (byte === comma || byte === close)) {
        yield* this.#take(bytes.subarray(from, at));
        from = at + 1;
        this.#isOver = byte === close;
        continue;
      }
      this.#begunAt ??= this.#line;
      if (byte === quote) this.#inString = true;
      else if ((byte | 32) === anyOpen) this.#open();
      else if ((byte | 32) === anyClose) this.#depth -= 1;
    }
    if (!this.#isOver && this.#depth > 0) this.#keep(bytes.slice(from));
  }

  /** Throws `invalid_input` if the array has not ended. */
  end(): void {
    if (!this.#isOver) throw this.#refused('a whole JSON array', 'its beginning only');
  }

  #open(): void {
    this.#depth += 1;
    if (this.#depth <= this.#deepest) return;
    refuse(
      'limit_exceeded',
      `${this.#file}:${this.#line}`,
      `JSON of at most ${this.#deepest} levels`,
      'a deeper nesting',
    );
  }

  *#take(rest: Uint8Array): Generator<ArrayElement> {
    this.#keep(rest);
    const text =
      this.#chunks.map((one) => this.#decoder.decode(one, { stream: true })).join('') + this.#decoder.decode();
    const number = this.#begunAt ?? this.#line;
    [this.#chunks, this.#length, this.#begunAt] = [[], 0, undefined];
    if (text.trim() !== '') yield { text, number };
  }

  #keep(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#longest) {
      const path = `${this.#file}:${this.#begunAt ?? this.#line}`;
      refuse('limit_exceeded', path, `at most ${this.#longest} bytes`, 'more');
    }
    if (chunk.length > 0) this.#chunks.push(chunk);
  }

  #refused(expected: string, got: string): PolicyError {
    return new PolicyError('invalid_input', { expected, got, path: `${this.#file}:${this.#line}` });
  }
}
