/**
 * Continuous batching, one decode step at a time: every running request gets a token, those that are done leave, and
 * those that wait take their places in the order in which they came. It knows no clock.
 */

/** How a request ended: with its last token, at its limit, or early. */
export type Ending = 'stop' | 'length' | 'abort';

/** A request in the batch, or in line for it. */
export interface Generation {
  readonly rid: string;
  /** Tokens after which it stops by itself. */
  readonly length: number;
  /** Most tokens that it may have. */
  readonly maxNewTokens: number;
  /** Tokens that it has so far. */
  tokens: number;
  /** How it ended; `null` while it runs or waits. */
  ending: Ending | null;
}

/** Limits of a decoder. */
export interface DecoderOptions {
  /** Most requests in the batch at once; further ones wait. */
  readonly maxRunningRequests: number;
  /** Steps that are under way when an abort comes: a request that ends in them ends as if nothing had come. */
  readonly stepsInFlight: number;
}

/** The batch of one engine. */
export class Decoder {
  readonly #options: DecoderOptions;
  readonly #running = new Map<string, Generation>();
  readonly #waiting = new Map<string, Generation>();
  /** Steps that are left to a request that is aborted. */
  readonly #aborting = new Map<string, number>();

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  /** Requests in the batch. */
  get running(): number {
    return this.#running.size;
  }

  /** Requests in line. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Ids of all requests that are here, those in the batch first. */
  get rids(): string[] {
    return [...this.#running.keys(), ...this.#waiting.keys()];
  }

  has(rid: string): boolean {
    return this.#running.has(rid) || this.#waiting.has(rid);
  }

  /** Takes a request. Its id must be new. */
  add(rid: string, length: number, maxNewTokens: number): Generation {
    const generation: Generation = { rid, length, maxNewTokens, tokens: 0, ending: null };
    this.#waiting.set(rid, generation);
    this.#fill();
    return generation;
  }

  /** Ends a request early. Gives it at once if it was only in line; one in the batch ends with a later step. */
  abort(rid: string): Generation | undefined {
    const waiting = this.#waiting.get(rid);
    if (waiting !== undefined) {
      this.#waiting.delete(rid);
      waiting.ending = 'abort';
      return waiting;
    }
    if (this.#running.has(rid) && !this.#aborting.has(rid)) this.#aborting.set(rid, this.#options.stepsInFlight);
    return undefined;
  }

  /** One decode step. Gives the requests that it ended. */
  step(): Generation[] {
    const ended: Generation[] = [];
    for (const generation of this.#running.values()) {
      const stepsLeft = this.#aborting.get(generation.rid);
      if (stepsLeft === 0) generation.ending = 'abort';
      else {
        if (stepsLeft !== undefined) this.#aborting.set(generation.rid, stepsLeft - 1);
        generation.tokens += 1;
        if (generation.tokens >= generation.length) generation.ending = 'stop';
        else if (generation.tokens >= generation.maxNewTokens) generation.ending = 'length';
      }
      if (generation.ending !== null) ended.push(generation);
    }
    for (const { rid } of ended) {
      this.#running.delete(rid);
      this.#aborting.delete(rid);
    }
    this.#fill();
    return ended;
  }

  #fill(): void {
    for (const [rid, generation] of this.#waiting) {
      if (this.#running.size >= this.#options.maxRunningRequests) return;
      this.#waiting.delete(rid);
      this.#running.set(rid, generation);
    }
  }
}
