/**
 * Request ids: `<idPrefix><prompt>/<index>#<attempt>`, never reused. The ids of prompts that have left are remembered, to
 * distinguish late ids from ids that were never minted.
 */
import { z } from 'zod';
import { Fifo } from '../../core/collections/fifo.ts';
import { count } from '../../schemas/units.ts';

/** The parts of a request id. */
export interface ParsedId {
  readonly promptId: string;
  readonly index: number;
  readonly attempt: number;
}

// The pattern is anchored, so that an id without a match is refused in linear time.
const tail = /^(.+)\/(0|[1-9]\d{0,8})#(0|[1-9]\d{0,8})$/s;

/**
 * Makes request ids. Ids of one prompt share the string of their beginning, and ids of one attempt share the string of their end.
 * This sharing saves memory accesses: with 100,000 requests in flight, ids cause a third of them.
 */
export class IdMint {
  #prefix = '';
  #promptId = '';
  #head = '/';
  #attempt = -1;
  #tails: string[] = [];

  /** Returns the id for a request. */
  mint(prefix: string, promptId: string, index: number, attempt: number): string {
    if (promptId !== this.#promptId || prefix !== this.#prefix) {
      this.#prefix = prefix;
      this.#promptId = promptId;
      this.#head = `${prefix}${promptId}/`;
    }
    if (attempt !== this.#attempt) {
      this.#attempt = attempt;
      this.#tails = [];
    }
    this.#tails[index] ??= `${index}#${attempt}`;
    return this.#head + this.#tails[index];
  }
}

/** Parses an id that was minted under the prefix; returns `undefined` for any other id. */
export function parseId(prefix: string, id: string): ParsedId | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const match = tail.exec(id.slice(prefix.length));
  if (match === null) return undefined;
  return { promptId: match[1]!, index: Number(match[2]), attempt: Number(match[3]) };
}

/** Returns the attempt that a minted id names. */
export const attemptOf = (id: string): number => Number.parseInt(id.slice(id.lastIndexOf('#') + 1), 10);

/** Attempts that were launched for a prompt. */
const launched = z.strictObject({
  promptId: z.string(),
  /** The lowest attempt that was minted. */
  first: count,
  /** The highest attempt that was minted. */
  last: count,
  /** A bound above every index that was launched. */
  indices: count,
  /** Number of the first prefix that was in use while the prompt was here, counted from 0. */
  firstPrefix: count,
  /** Number of the latest such prefix. */
  lastPrefix: count,
});
export type Launched = z.output<typeof launched>;

/** Least number of prompts that are remembered; and number of rounds whose prompts are remembered. */
const leastRemembered = 64;
const roundsRemembered = 4;

/**
 * The last prompts that have left: as many as four rounds train on, and at least 64. Every operation is O(1), except for prompts
 * that came and left several times.
 */
export class Departures {
  /** The attempt number below which an attempt may belong to a forgotten prompt. */
  horizon: number;
  readonly #inOrder = new Fifo<Launched>();
  readonly #byPrompt = new Map<string, Launched[]>();

  /** @param all - saved entries, oldest first */
  constructor(horizon: number, all: readonly Launched[]) {
    this.horizon = horizon;
    for (const one of all) this.add(one, Number.POSITIVE_INFINITY);
  }

  /** Returns the attempts launched for a prompt id, one entry for each stay of the prompt; oldest first. */
  of(promptId: string): readonly Launched[] {
    return this.#byPrompt.get(promptId) ?? [];
  }

  /** All remembered prompts, oldest first. */
  get launched(): Launched[] {
    return [...this.#inOrder];
  }

  /** Remembers the attempts of a prompt, and forgets the oldest prompts beyond the limit. */
  add(one: Launched, promptsPerRound: number): void {
    const same = this.#byPrompt.get(one.promptId);
    if (same === undefined) this.#byPrompt.set(one.promptId, [one]);
    else same.push(one);
    this.#inOrder.push(one);
    const most = Math.max(leastRemembered, roundsRemembered * promptsPerRound);
    while (this.#inOrder.size > most) {
      const { promptId, last } = this.#inOrder.shift()!;
      this.horizon = Math.max(this.horizon, last + 1);
      const its = this.#byPrompt.get(promptId)!;
      its.shift();
      if (its.length === 0) this.#byPrompt.delete(promptId);
    }
  }
}

/** Schema of {@link Departures} in a state. */
export const departures = z.codec(
  z.strictObject({ horizon: count, launched: z.array(launched) }),
  z.custom<Departures>(),
  {
    decode: ({ horizon, launched: all }) => new Departures(horizon, all),
    encode: ({ horizon, launched: all }) => ({ horizon, launched: all }),
  },
);
