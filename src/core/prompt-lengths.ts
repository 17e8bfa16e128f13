/**
 * The lengths of each prompt's responses in a few numbers, for a bounded number of prompts. They are in columns: a million prompts
 * as objects would take twice the memory.
 */
import { z } from 'zod';

const column = z.array(z.int().nonnegative());

/** Schema of {@link PromptLengths} as JSON: the prompts not seen for longest come first. */
export const savedPromptLengths = z.strictObject({
  capacity: z.int().positive(),
  ids: z.array(z.string()),
  /** Number of responses in earlier rounds, in sixteenths: those of older rounds count less. */
  earlier: column,
  /** Mean of their places. */
  earlierMean: column,
  siblings: column,
  siblingSum: column,
  round: column,
});
type Saved = z.output<typeof savedPromptLengths>;

/** Share of an older round's weight that remains. */
const retention = 0.75;
const unit = 16;
const most = 64 * unit;

export class PromptLengths {
  readonly capacity: number;
  readonly #slots = new Map<string, number>();
  #ids: string[] = [];
  #earlier = new Uint16Array(16);
  #mean = new Uint16Array(16);
  #siblings = new Uint16Array(16);
  #sum = new Int32Array(16);
  #round = new Int32Array(16);
  #older = new Int32Array(16);
  #newer = new Int32Array(16);
  #oldest = -1;
  #newest = -1;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Returns the slot of a prompt, −1 if it is not known. */
  find(promptId: string): number {
    return this.#slots.get(promptId) ?? -1;
  }

  round = (slot: number): number => this.#round[slot]!;
  earlier = (slot: number): number => this.#earlier[slot]! / unit;
  earlierMean = (slot: number): number => this.#mean[slot]!;
  siblings = (slot: number): number => this.#siblings[slot]!;
  siblingMean = (slot: number): number => this.#sum[slot]! / this.#siblings[slot]!;
  meanOfAll(slot: number): number {
    const earlier = this.earlier(slot);
    const siblings = this.siblings(slot);
    return (earlier * this.earlierMean(slot) + this.#sum[slot]!) / (earlier + siblings);
  }

  /** Returns the slot of a prompt in a round, and marks it as the last one seen. */
  enter(promptId: string, round: number): number {
    let slot = this.#slots.get(promptId);
    if (slot === undefined) {
      slot = this.#slots.size < this.capacity ? this.#slots.size : this.#forgetOldest();
      if (slot >= this.#mean.length) this.#grow();
      this.#ids[slot] = promptId;
      this.#slots.set(promptId, slot);
      this.#earlier[slot] = this.#mean[slot] = this.#siblings[slot] = this.#sum[slot] = 0;
      this.#round[slot] = round;
      this.#append(slot);
      return slot;
    }
    if (slot !== this.#newest) {
      this.#unlink(slot);
      this.#append(slot);
    }
    if (this.#round[slot] !== round) this.#close(slot, round);
    return slot;
  }

  /** Adds a response of the current round. */
  add(slot: number, place: number): void {
    this.#siblings[slot]! += 1;
    this.#sum[slot]! += place;
  }

  save(): Saved {
    const order: number[] = [];
    for (let slot = this.#oldest; slot >= 0; slot = this.#newer[slot]!) order.push(slot);
    const columnOf = (values: ArrayLike<number>): number[] => order.map((slot) => values[slot]!);
    return {
      capacity: this.capacity,
      ids: order.map((slot) => this.#ids[slot]!),
      earlier: columnOf(this.#earlier),
      earlierMean: columnOf(this.#mean),
      siblings: columnOf(this.#siblings),
      siblingSum: columnOf(this.#sum),
      round: columnOf(this.#round),
    };
  }

  load(saved: Saved): void {
    saved.ids.forEach((id, row) => {
      const slot = this.enter(id, saved.round[row]!);
      this.#earlier[slot] = saved.earlier[row]!;
      this.#mean[slot] = saved.earlierMean[row]!;
      this.#siblings[slot] = saved.siblings[row]!;
      this.#sum[slot] = saved.siblingSum[row]!;
    });
  }

  #close(slot: number, round: number): void {
    const mean = this.meanOfAll(slot);
    const count = Math.floor(this.#earlier[slot]! * retention) + this.#siblings[slot]! * unit;
    this.#mean[slot] = Math.round(mean);
    this.#earlier[slot] = Math.min(most, count);
    this.#siblings[slot] = 0;
    this.#sum[slot] = 0;
    this.#round[slot] = round;
  }

  #grow(): void {
    const bigger = <T extends Uint16Array | Int32Array>(old: T): T => {
      const column = new (old.constructor as new (length: number) => T)(old.length * 2);
      column.set(old as never);
      return column;
    };
    this.#earlier = bigger(this.#earlier);
    this.#mean = bigger(this.#mean);
    this.#siblings = bigger(this.#siblings);
    this.#sum = bigger(this.#sum);
    this.#round = bigger(this.#round);
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
