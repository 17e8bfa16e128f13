/** Requests that move, one a row: there may be very many, and most of them only arrive. */
import { z } from 'zod';
import { byHand } from '../../core/state.ts';
import { StringIndex } from '../../core/string-index.ts';
import { count } from '../../schemas/units.ts';

const statuses = ['moving', 'moved', 'failed', 'ended'] as const;

/** `ended` is one that was aborted or completed on the way. */
export type MoveStatus = (typeof statuses)[number];

/** Requests that move as they are saved: by column, as they are kept, since there may be very many. */
const savedMoves = z
  .strictObject({
    ids: z.array(z.string()),
    from: z.array(count),
    to: z.array(count),
    tokens: z.array(count),
    status: z.array(z.enum(statuses)),
    /** Attempts after the first, where there were any, by row. */
    retries: z.array(z.tuple([count, count])),
  })
  .refine(({ ids, from, to, tokens, status }) => [from, to, tokens, status].every((one) => one.length === ids.length), {
    message: 'expected columns of one length',
  });

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
    return Moves.load({ ids: [], from: [], to: [], tokens: [], status: [], retries: [] });
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

  save(): z.output<typeof savedMoves> {
    const ids = this.ids();
    const [from, to, tokens] = [new Array(ids.length), new Array(ids.length), new Array(ids.length)];
    const status: MoveStatus[] = new Array(ids.length);
    // A loop: `Array.from` takes several times as long, and there may be a hundred thousand of them.
    for (let row = 0; row < ids.length; row += 1) {
      from[row] = this.#from[row]!;
      to[row] = this.#to[row]!;
      tokens[row] = this.#tokens[row]!;
      status[row] = this.status(row);
    }
    return { ids, from, to, tokens, status, retries: [...this.#retries] };
  }

  static load({ ids, from, to, tokens, status, retries }: z.output<typeof savedMoves>): Moves {
    const index = StringIndex.of(ids);
    const live = new Moves(ids, index, Int32Array.from(from), Int32Array.from(to), Float64Array.from(tokens));
    for (let row = 0; row < ids.length; row += 1) live.setStatus(row, status[row]!);
    for (const [row, more] of retries) live.#retries.set(row, more);
    return live;
  }
}

/** Schema of {@link Moves} in a state. */
export const moves = byHand(savedMoves, {
  decode: (saved) => Moves.load(saved),
  encode: (live) => live.save(),
});
