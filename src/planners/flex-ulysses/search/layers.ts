/** Layers of a group: one whole item per device, or as many items that are spread over the group. */
import type { Layout } from './layout.ts';
import type { Sequence } from './random.ts';

const nobody = -1;
/** An item is drawn from so many neighbours in a ring. */
const near = 4;

/** The items per group and level, as rings, and one layer taken from a ring. */
export class Layers {
  readonly #layout: Layout;
  readonly #next: Int32Array;
  readonly #before: Int32Array;
  /** By level and group: an item that begins the ring. */
  readonly #head: readonly Int32Array[];
  /** The layer: its items, and the devices of the items when these are whole. */
  readonly items: Int32Array;
  readonly devices: Int32Array;
  /** The level of the group over which the layer is spread, or would be spread. */
  level = 0;
  group = 0;
  /** Whether the items of the layer are spread now. */
  isSpread = false;

  constructor(layout: Layout) {
    const { items, devices, levels, top } = layout.problem;
    this.#layout = layout;
    this.#next = new Int32Array(items);
    this.#before = new Int32Array(items);
    this.#head = Array.from({ length: levels }, (_, level) => new Int32Array(devices >> level).fill(nobody));
    this.items = new Int32Array(top);
    this.devices = new Int32Array(top);
    for (let item = 0; item < items; item += 1) this.enter(item);
  }

  /** Puts an item into the ring of its group. */
  enter(item: number): void {
    const head = this.#head[this.#layout.level[item]!]!;
    const group = this.#layout.group[item]!;
    const first = head[group]!;
    const last = first === nobody ? item : this.#before[first]!;
    this.#next[item] = first === nobody ? item : first;
    this.#before[item] = last;
    this.#next[last] = item;
    this.#before[this.#next[item]!] = item;
    head[group] = item;
  }

  /** Takes an item out of its ring. */
  leave(item: number): void {
    const head = this.#head[this.#layout.level[item]!]!;
    const group = this.#layout.group[item]!;
    const next = this.#next[item]!;
    if (next === item) head[group] = nobody;
    else {
      this.#next[this.#before[item]!] = next;
      this.#before[next] = this.#before[item]!;
      if (head[group] === item) head[group] = next;
    }
  }

  /** Returns an item of a group, or −1 if it has none; the next call mostly returns another item. */
  #pick(level: number, group: number, random: Sequence): number {
    const head = this.#head[level]!;
    let one = head[group]!;
    if (one === nobody) return nobody;
    for (let steps = random.below(near); steps > 0; steps -= 1) one = this.#next[one]!;
    head[group] = one;
    return one;
  }

  /**
   * Picks a random layer in the group of this item. If the item is whole, the layer contains the item; if the item is spread, the
   * layer may consist of other spread items of the group.
   *
   * @returns whether the group has such a layer
   */
  take(item: number, random: Sequence): boolean {
    const { level, group, problem } = this.#layout;
    const now = level[item]!;
    this.isSpread = now > 0;
    this.level = this.isSpread ? now : 1 + random.below(problem.levels - 1);
    this.group = this.isSpread ? group[item]! : group[item]! >> this.level;
    return this.isSpread ? this.#takeSpread(random) : this.#takeWhole(item, random);
  }

  #takeWhole(item: number, random: Sequence): boolean {
    const first = this.group << this.level;
    const own = this.#layout.group[item]!;
    for (let rank = 0; rank < 1 << this.level; rank += 1) {
      const one = first + rank === own ? item : this.#pick(0, first + rank, random);
      if (one === nobody) return false;
      this.items[rank] = one;
      this.devices[rank] = first + rank;
    }
    return true;
  }

  /** Takes spread items, and assigns the item with most work to the device with the least load. */
  #takeSpread(random: Sequence): boolean {
    const size = 1 << this.level;
    const { work, problem } = this.#layout;
    const start = this.#pick(this.level, this.group, random);
    let one = start;
    for (let rank = 0; rank < size; rank += 1) {
      if (problem.least[one]! > 0) return false;
      this.items[rank] = one;
      one = this.#next[one]!;
      if (one === start && rank < size - 1) return false;
    }
    this.items.subarray(0, size).sort();
    for (let rank = 0; rank < size; rank += 1) {
      const device = (this.group << this.level) + rank;
      let at = rank;
      for (; at > 0 && work[this.devices[at - 1]!]! > work[device]!; at -= 1) this.devices[at] = this.devices[at - 1]!;
      this.devices[at] = device;
    }
    return true;
  }
}
