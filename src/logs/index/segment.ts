/**
 * A segment of the index, which describes a part of one log file. Segments never change; the last one of a log that has grown is
 * replaced. A segment is written as one line of JSON (its head), the ids with the blocks that mention them, and states of
 * sessions.
 */
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SavedPlay } from '../replay/play.ts';
import type { LogGap } from '../replay/replay-log.ts';

/** A saved state of a session. */
export interface Point {
  /** Number of events of the session before this point. */
  readonly seq: number;
  /** Latest time, on the session's own clock. */
  readonly at: number;
  /** Offset in the log of the first line after this point. */
  readonly offset: number;
  /** Place and length in the section of the states. */
  readonly start: number;
  readonly bytes: number;
}

/** A segment's entry for one session. */
export interface SegmentSession {
  readonly session: string;
  /** Number of the session among those with this id, from 0: an id may be opened again. */
  readonly run: number;
  readonly policy: string;
  /** Offset of the session's first line in the segment. */
  readonly from: number;
  /** The blocks with lines of the session, each with the number of events before it and the time of its first line. */
  readonly blocks: number[];
  readonly seqs: number[];
  readonly times: number[];
  readonly points: Point[];
  readonly gaps: LogGap[];
  /** Events before the end of the segment. */
  seq: number;
  /** Latest time on the session's own clock, and time of its last line on the log's clock. */
  at: number;
  time: number;
  /** How the session ended, if it did. */
  closed?: 'closed' | 'replaced' | 'stopped' | undefined;
  /** Why the session could not be played at its end, and the first event that this version decides differently. */
  problem?: string | undefined;
  differs?: number | undefined;
}

/** The head of a segment. */
export interface SegmentHead {
  /** The writer of the segment: another version builds the segment again. */
  readonly writer: string;
  readonly kind: 'events' | 'decisions';
  /** The part of the file: first byte, and the byte after its last line. */
  readonly from: number;
  readonly to: number;
  /** Number of lines of the file before the segment, and inside it. */
  readonly linesBefore: number;
  readonly lines: number;
  /** Number of events inside it. */
  readonly events: number;
  /** Size and time of the file when it was read, and digests of its first bytes and of the bytes before `to`. */
  readonly size: number;
  readonly modified: number;
  readonly digest: string;
  /** Offset of the first line of each block. */
  readonly blocks: number[];
  readonly sessions: SegmentSession[];
  readonly droppedLines: number;
  /** Whether the file ends in the middle of a line. */
  readonly torn: boolean;
  /** Latest time of a line, on the clock of the log. */
  readonly time: number;
  /** Bytes that the ids take. */
  readonly idBytes: number;
}

const digestBytes = 4096;

/** Digests the first bytes of a file and the bytes before an offset, which tell this file from another one. */
export function digestOf(file: number, to: number): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(digestBytes);
  for (const at of [0, Math.max(0, to - digestBytes)]) {
    const length = readSync(file, buffer, 0, Math.min(digestBytes, to - at), at);
    hash.update(buffer.subarray(0, length));
  }
  return hash.digest('base64url').slice(0, 22);
}

/** A segment with its stored ids and states. */
export class Segment {
  readonly head: SegmentHead;
  readonly #ids: Buffer;
  readonly #states: Buffer;

  constructor(head: SegmentHead, ids: Buffer, states: Buffer) {
    this.head = head;
    this.#ids = ids;
    this.#states = states;
  }

  /** Decodes a segment; returns `undefined` for bytes that were cut off or are no segment. */
  static decode(bytes: Buffer): Segment | undefined {
    try {
      const end = bytes.indexOf(10);
      const head = JSON.parse(bytes.toString('utf8', 0, end)) as SegmentHead;
      const ids = bytes.subarray(end + 1, end + 1 + head.idBytes);
      const states = bytes.subarray(end + 1 + head.idBytes);
      const points = head.sessions.flatMap((one) => one.points);
      const length = points.reduce((sum, one) => sum + one.bytes, 0);
      return states.length === length && ids.length === head.idBytes ? new Segment(head, ids, states) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Bytes of ids and states; the head adds little. */
  get bytes(): number {
    return this.#ids.length + this.#states.length;
  }

  encode(): Buffer {
    return Buffer.concat([Buffer.from(`${JSON.stringify(this.head)}\n`), this.#ids, this.#states]);
  }

  /** Returns the state of a point. */
  stateAt({ start, bytes }: Point): SavedPlay {
    return JSON.parse(inflateRawSync(this.#states.subarray(start, start + bytes)).toString('utf8')) as SavedPlay;
  }

  /** Returns the blocks that mention an id, in order. */
  blocksOf(id: string): readonly number[] {
    const key = `${JSON.stringify(id)}:[`;
    for (let at = this.#ids.indexOf(key); at >= 0; at = this.#ids.indexOf(key, at + 1)) {
      // Inside of a key a quotation mark stands behind a backslash.
      const before = this.#ids[at - 1];
      if (before !== 0x7b && before !== 0x2c) continue;
      const from = at + Buffer.byteLength(key);
      return JSON.parse(`[${this.#ids.toString('latin1', from, this.#ids.indexOf(0x5d, from))}]`) as number[];
    }
    return [];
  }

  /** All ids. */
  get ids(): string[] {
    return Object.keys(JSON.parse(this.#ids.toString('utf8')) as object);
  }
}

/** Ids and states of a segment in the making. */
export class SegmentDraft {
  readonly #ids = new Map<string, number[]>();
  readonly #states: Buffer[] = [];
  #stateBytes = 0;
  #last: string | undefined;
  #lastBlock = 0;

  mention(id: string, block: number): void {
    // An event and its decisions often name the same thing.
    if (id === this.#last && block === this.#lastBlock) return;
    this.#last = id;
    this.#lastBlock = block;
    const blocks = this.#ids.get(id);
    if (blocks === undefined) this.#ids.set(id, [block]);
    else if (blocks[blocks.length - 1] !== block) blocks.push(block);
  }

  /** Adds a state, and returns its place and its uncompressed length. */
  add(saved: SavedPlay): { start: number; bytes: number; plain: number } {
    const text = JSON.stringify(saved);
    const state = deflateRawSync(text, { level: 1 });
    this.#states.push(state);
    const start = this.#stateBytes;
    this.#stateBytes += state.length;
    return { start, bytes: state.length, plain: text.length };
  }

  segment(head: Omit<SegmentHead, 'idBytes'>): Segment {
    // A map and not an object: an id may be `__proto__`, or a number.
    const entries = [...this.#ids].map(([id, blocks]) => `${JSON.stringify(id)}:[${blocks.join(',')}]`);
    const ids = Buffer.from(`{${entries.join(',')}}`);
    return new Segment({ ...head, idBytes: ids.length }, ids, Buffer.concat(this.#states));
  }
}
