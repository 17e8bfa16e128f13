/** Requests that move, one a row: there may be very many, and most of them only arrive. */
import { z } from 'zod';
import { StringIndex } from '../../core/string-index.ts';
import { count } from '../../schemas/units.ts';

const statuses = ['moving', 'moved', 'failed', 'ended'] as const;

/** `ended` is one that was aborted or completed on the way. */
export type MoveStatus = (typeof statuses)[number];

const savedMove = z.strictObject({
  requestId: z.string(),
  from: count,
  to: count,
  tokens: count,
  attempts: count,
  status: z.enum(statuses),
});
/** A request that moves, as it is saved. */
export type SavedMove = z.output<typeof savedMove>;

/** The requests of a release, by id; rows are numbered from 0. */
export class Moves {
  readonly #ids: readonly string[];
  readonly #index: StringIndex;
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #tokens: Float64Array;
  /** Attempts after the first, where there were any. */
  readonly #retries = new Map<number, number>();
  readonly #status: Uint8Array;

  /**
   * Requests that begin to move. What is given is kept, not copied.
   *
   * @param ids - by row, and others after them; of one that is given twice only the first row is ever found
   * @param index - of these ids
   * @param from - places of the engines that they leave
   * @param to - places of the engines that they go to
   * @param tokens - tokens that they have generated
   */
  constructor(ids: readonly string[], index: StringIndex, from: Int32Array, to: Int32Array, tokens: Float64Array) {
    this.#ids = ids;
    this.#index = index;
    this.#from = from;
    this.#to = to;
    this.#tokens = tokens;
    this.#status = new Uint8Array(tokens.length);
  }

  /** No request. */
  static none(): Moves {
    return Moves.load([]);
  }

  /** The row of a request, or −1. */
  row(requestId: string): number {
    return this.#index.row(requestId);
  }

  /** Ids, in the order of rows. */
  ids(): string[] {
    return this.#ids.slice(0, this.#status.length);
  }

  /** The place of the engine that a request leaves. */
  from(row: number): number {
    return this.#from[row]!;
  }

  /** The place of the engine that it goes to. */
  to(row: number): number {
    return this.#to[row]!;
  }

  /** Tokens that it had generated when this was decided. */
  tokens(row: number): number {
    return this.#tokens[row]!;
  }

  /** Tries so far, the one that is under way included. */
  attempts(row: number): number {
    return (this.#retries.get(row) ?? 0) + 1;
  }

  status(row: number): MoveStatus {
    return statuses[this.#status[row]!]!;
  }

  setStatus(row: number, status: MoveStatus): void {
    this.#status[row] = statuses.indexOf(status);
  }

  /** One more try, to another engine. */
  retry(row: number, to: number): void {
    this.#to[row] = to;
    this.#retries.set(row, this.attempts(row));
  }

  save(): SavedMove[] {
    return this.ids().map((requestId, row) => ({
      requestId,
      from: this.from(row),
      to: this.to(row),
      tokens: this.tokens(row),
      attempts: this.attempts(row),
      status: this.status(row),
    }));
  }

  static load(saved: readonly SavedMove[]): Moves {
    const column = (of: (move: SavedMove) => number) => Int32Array.from(saved, of);
    const ids = saved.map((move) => move.requestId);
    const tokens = Float64Array.from(saved, (move) => move.tokens);
    const moves = new Moves(
      ids,
      StringIndex.of(ids),
      column((move) => move.from),
      column((move) => move.to),
      tokens,
    );
    for (const [row, { attempts, status }] of saved.entries()) {
      if (attempts > 1) moves.#retries.set(row, attempts - 1);
      moves.setStatus(row, status);
    }
    return moves;
  }
}

/** Schema of {@link Moves} in a state. */
export const moves = z.codec(z.array(savedMove), z.custom<Moves>(), {
  decode: (saved) => Moves.load(saved),
  encode: (live) => live.save(),
});
