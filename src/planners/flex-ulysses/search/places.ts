/** Which items are where: rings of the items of each group of each level. */
import type { Layout } from './layout.ts';
import type { Sequence } from './random.ts';

const nobody = -1;

/** The items of each group, in rings. */
export class Places {
  readonly #layout: Layout;
  readonly #next: Int32Array;
  readonly #before: Int32Array;
  /** An item of each group, by level. */
  readonly #head: readonly Int32Array[];

  constructor(layout: Layout) {
    const { items, devices, levels } = layout.problem;
    this.#layout = layout;
    this.#next = new Int32Array(items);
    this.#before = new Int32Array(items);
    this.#head = Array.from({ length: levels }, (_, level) => new Int32Array(devices >> level).fill(nobody));
    for (let item = 0; item < items; item += 1) this.enter(item);
  }

  /** Puts an item into the ring of where it is. */
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

  after(item: number): number {
    return this.#next[item]!;
  }

  /** An item of a group, or none; another one next time. */
  pick(level: number, group: number, random: Sequence): number {
    const head = this.#head[level]!;
    let one = head[group]!;
    if (one === nobody) return nobody;
    for (let steps = random.below(4); steps > 0; steps -= 1) one = this.#next[one]!;
    head[group] = one;
    return one;
  }
}
