/** Devices whose whole items were taken off in order to be placed again. */
import type { Layout } from './layout.ts';

/** Devices without their whole items: each device is a bin to be filled with these items again. */
export class Bins {
  readonly #layout: Layout;
  /** Whole items, most work first; work and tokens of each. */
  readonly #items: Int32Array;
  readonly work: Float64Array;
  readonly memory: Float64Array;
  /** Room of each device. */
  readonly roomWork: Float64Array;
  readonly roomMemory: Float64Array;
  /** The bin of each item; −1 for an item without a bin. */
  readonly bin: Int32Array;
  readonly filled: Uint8Array;
  /** By number of filled bins: the items in no bin, and, from each of these items on, the sums of work and tokens. */
  readonly rests: readonly Int32Array[];
  readonly restWork: readonly Float64Array[];
  readonly restMemory: readonly Float64Array[];
  /** Work and tokens that the unfilled bins together may leave unused. */
  spareWork: number;
  spareMemory: number;

  constructor(layout: Layout) {
    this.#layout = layout;
    const { items, devices, work, memory } = layout.problem;
    const whole: number[] = [];
    for (let item = 0; item < items; item += 1) if (layout.level[item] === 0) whole.push(item);
    this.#items = Int32Array.from(whole);
    this.work = Float64Array.from(whole, (item) => work[item]!);
    this.memory = Float64Array.from(whole, (item) => memory[item]!);
    this.roomWork = layout.work.map((load) => 1 - load);
    this.roomMemory = layout.memory.map((load) => 1 - load);
    for (const item of whole) {
      this.roomWork[layout.group[item]!]! += work[item]!;
      this.roomMemory[layout.group[item]!]! += memory[item]!;
    }
    const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
    this.spareWork = sum(this.roomWork) - sum(this.work);
    this.spareMemory = sum(this.roomMemory) - sum(this.memory);
    this.bin = new Int32Array(whole.length).fill(-1);
    this.filled = new Uint8Array(devices);
    this.rests = Array.from({ length: devices }, () => new Int32Array(whole.length));
    this.restWork = Array.from({ length: devices }, () => new Float64Array(whole.length + 1));
    this.restMemory = Array.from({ length: devices }, () => new Float64Array(whole.length + 1));
  }

  get count(): number {
    return this.filled.length;
  }

  /** Lists the items that are in no bin, and returns their number. */
  rest(depth: number): number {
    const rest = this.rests[depth]!;
    let count = 0;
    for (let at = 0; at < this.bin.length; at += 1) if (this.bin[at]! < 0) rest[count++] = at;
    const work = this.restWork[depth]!;
    const memory = this.restMemory[depth]!;
    work[count] = 0;
    memory[count] = 0;
    for (let at = count - 1; at >= 0; at -= 1) {
      work[at] = work[at + 1]! + this.work[rest[at]!]!;
      memory[at] = memory[at + 1]! + this.memory[rest[at]!]!;
    }
    return count;
  }

  /** Fills a bin with the first items of a list. */
  fill(bin: number, items: Int32Array, count: number): void {
    this.filled[bin] = 1;
    this.spareWork -= this.roomWork[bin]!;
    this.spareMemory -= this.roomMemory[bin]!;
    for (let one = 0; one < count; one += 1) {
      const at = items[one]!;
      this.bin[at] = bin;
      this.spareWork += this.work[at]!;
      this.spareMemory += this.memory[at]!;
    }
  }

  empty(bin: number): void {
    this.filled[bin] = 0;
    this.spareWork += this.roomWork[bin]!;
    this.spareMemory += this.roomMemory[bin]!;
    for (let at = 0; at < this.bin.length; at += 1) {
      if (this.bin[at] !== bin) continue;
      this.bin[at] = -1;
      this.spareWork -= this.work[at]!;
      this.spareMemory -= this.memory[at]!;
    }
  }

  /** Puts every item on the device of its bin. */
  write(): void {
    this.#items.forEach((item, at) => {
      this.#layout.put(item, 0, this.bin[at]!);
    });
  }
}
