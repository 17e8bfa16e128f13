/** Requests that move, one a row: there may be very many, and most of them only arrive. */
import { StringIndex } from '../../core/string-index.ts';

const statuses = ['moving', 'moved', 'failed', 'ended'] as const;

/** `ended` is one that was aborted or completed on the way. */
export type MoveStatus = (typeof statuses)[number];

/** A request that moves, as it is saved. */
export interface SavedMove {
  requestId: string;
  from: number;
  to: number;
  tokens: number;
  attempts: number;
  status: MoveStatus;
}

/** The requests of a release, by id; rows are numbered from 0. */
export class Moves {
  readonly #index: StringIndex;
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #tokens: number[] = [];
  /** Attempts after the first. */
  readonly #retries: Float64Array;
  readonly #status: Uint8Array;

  /** @param capacity - how many there will be at most */
  constructor(capacity: number) {
    this.#index = new StringIndex(capacity);
    this.#from = new Int32Array(capacity);
    this.#to = new Int32Array(capacity);
    this.#retries = new Float64Array(capacity);
    this.#status = new Uint8Array(capacity);
  }

  /** Adds a request that leaves an engine; gives its row, or −1 if it is there. Where it goes must be said next. */
  add(requestId: string, from: number, tokens: number): number {
    const row = this.#index.add(requestId);
    if (row < 0) return -1;
    this.#from[row] = from;
    this.#tokens.push(tokens);
    return row;
  }

  /** The engine that a request goes to, by its place. */
  send(row: number, to: number): void {
    this.#to[row] = to;
  }

  /** The row of a request, or −1. */
  row(requestId: string): number {
    return this.#index.row(requestId);
  }

  /** The request of a row. */
  requestId(row: number): string {
    return this.#index.text(row);
  }

  /** Ids, in the order of rows. */
  ids(): string[] {
    return Array.from({ length: this.#index.size }, (_, row) => this.#index.text(row));
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
    return this.#retries[row]! + 1;
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
    this.#retries[row]! += 1;
  }

  save(): SavedMove[] {
    return Array.from({ length: this.#index.size }, (_, row) => ({
      requestId: this.#index.text(row),
      from: this.from(row),
      to: this.to(row),
      tokens: this.tokens(row),
      attempts: this.attempts(row),
      status: this.status(row),
    }));
  }

  static load(saved: readonly SavedMove[]): Moves {
    const moves = new Moves(saved.length);
    for (const { requestId, from, to, tokens, attempts, status } of saved) {
      const row = moves.add(requestId, from, tokens);
      if (row < 0) continue;
      moves.send(row, to);
      moves.#retries[row] = attempts - 1;
      moves.setStatus(row, status);
    }
    return moves;
  }
}
