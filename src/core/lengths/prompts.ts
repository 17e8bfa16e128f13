/**
 * The lengths of each prompt's responses in three numbers, for a bounded number of prompts. The numbers are stored in columns,
 * because a million prompts as objects would take twice the memory.
 */
import { z } from 'zod';

const most = 65_535;
const column = z.array(z.int().nonnegative().max(most));

/** Schema of {@link PromptLengths} as JSON: a row for each prompt, the one not seen for longest first. */
export const savedPromptLengths = z
  .strictObject({
    ids: z.array(z.string()),
    counts: z.array(z.int().positive().max(most)).describe('Weight of the responses, in sixteenths.'),
    means: column.describe('Mean of their log-lengths.'),
    squares: column.describe('Sum of squared deviations from the mean, in squares of 1/16 octave.'),
  })
  .refine(({ ids, ...columns }) => Object.values(columns).every((one) => one.length === ids.length), {
    error: 'expected columns of one length',
  });
type Saved = z.output<typeof savedPromptLengths>;

const countUnit = 16;
const squareUnit = 64 * 64;

/** Knowledge about one prompt. */
export interface PromptRecord {
  /** Number of responses; older ones count less. */
  readonly count: number;
  /** Mean log-length of the responses. */
  readonly mean: number;
  /** Sum of squared deviations from the mean. */
  readonly squares: number;
}

/** Records by prompt. Every operation is O(1), amortised. */
export class PromptLengths {
  readonly capacity: number;
  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  #counts = new Uint16Array(16);
  #means = new Uint16Array(16);
  #squares = new Uint16Array(16);
  // A list in the order in which prompts were last seen; −1 at its ends.
  #older = new Int32Array(16);
  #newer = new Int32Array(16);
  #oldest = -1;
  #newest = -1;

  /** @param capacity - the most prompts that are remembered */
  constructor(capacity: number, saved?: Saved) {
    this.capacity = capacity;
    saved?.ids.forEach((id, row) => {
      const slot = this.#enter(id);
      this.#counts[slot] = saved.counts[row]!;
      this.#means[slot] = saved.means[row]!;
      this.#squares[slot] = saved.squares[row]!;
    });
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Returns the record of a prompt, without marking the prompt as seen. */
  get(promptId: string): PromptRecord | undefined {
    const slot = this.#slots.get(promptId);
    if (slot === undefined) return undefined;
    return {
      count: this.#counts[slot]! / countUnit,
      mean: this.#means[slot]!,
      squares: this.#squares[slot]! * squareUnit,
    };
  }

  /**
   * Sets the record of a prompt, rounded, and marks the prompt as seen. Beyond the capacity, the prompt not seen for longest is
   * forgotten.
   */
  set(promptId: string, { count, mean, squares }: PromptRecord): void {
    const slot = this.#enter(promptId);
    this.#counts[slot] = Math.min(most, Math.max(1, Math.round(count * countUnit)));
    this.#means[slot] = Math.min(most, Math.round(mean));
    this.#squares[slot] = Math.min(most, Math.round(squares / squareUnit));
  }

  save(): Saved {
    const saved: Saved = { ids: [], counts: [], means: [], squares: [] };
    for (let slot = this.#oldest; slot >= 0; slot = this.#newer[slot]!) {
      saved.ids.push(this.#ids[slot]!);
      saved.counts.push(this.#counts[slot]!);
      saved.means.push(this.#means[slot]!);
      saved.squares.push(this.#squares[slot]!);
    }
    return saved;
  }

  #enter(promptId: string): number {
    let slot = this.#slots.get(promptId);
    if (slot === undefined) {
      slot = this.#slots.size < this.capacity ? this.#slots.size : this.#forgetOldest();
      if (slot >= this.#counts.length) this.#grow();
      this.#ids[slot] = promptId;
      this.#slots.set(promptId, slot);
      this.#append(slot);
    } else if (slot !== this.#newest) {
      this.#unlink(slot);
      this.#append(slot);
    }
    return slot;
  }

  #grow(): void {
    const bigger = <T extends Uint16Array | Int32Array>(old: T): T => {
      const column = new (old.constructor as new (length: number) => T)(old.length * 2);
      column.set(old as never);
      return column;
    };
    this.#counts = bigger(this.#counts);
    this.#means = bigger(this.#means);
    this.#squares = bigger(this.#squares);
    this.#older = bigger(this.#older);
    this.#newer = bigger(this.#newer);
  }

  #forgetOldest(): number {
    const slot = this.#oldest;
    this.#slots.delete(this.#ids[slot]!);
    this.#unlink(slot);
    return slot;
  }

  #unlink(slot: number): void {
    const older = this.#older[slot]!;
    const newer = this.#newer[slot]!;
    if (older < 0) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer < 0) this.#newest = older;
    else this.#older[newer] = older;
  }

  #append(slot: number): void {
    this.#older[slot] = this.#newest;
    this.#newer[slot] = -1;
    if (this.#newest < 0) this.#oldest = slot;
    else this.#newer[this.#newest] = slot;
    this.#newest = slot;
  }
}
