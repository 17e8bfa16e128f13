/**
 * Fills devices again with the whole items that lie on them, where so little room is left that exchanges no longer find
 * the way: one device after the other, and the last few by trying all ways (bin completion).
 */
import type { Layout } from './layout.ts';
import { type Problem, slop } from './problem.ts';
import type { Sequence } from './random.ts';

/** So many devices are left for the end, where all ways to fill them are tried. */
const atLast = 4;
/** Ways to fill the last devices that are looked at. */
const mostAtLast = 400_000;
/** An item with less work is better kept for the end, where it fills what is left. */
const small = 0.03;
/** Of what is left over of all devices, a device may leave so much more than its part. */
const generous = 1;
/** How much luck has a part in it, beside what a device leaves over, relative to its part. */
const luck = 2;
/** How much it counts, beside the same, that a device takes fewer tokens than those that are left have. */
const evenMemory = 10;

/** Devices are filled anew where there are no more of them, with no more items each, and their mean load is more. */
const mostDevices = 16;
const mostItemsEach = 5;
const tight = 0.995;

/** Whether devices are few and so little room is left on them that it is worth it to fill all of them anew. */
export function isTight({ items, devices, work }: Problem): boolean {
  if (devices > mostDevices || items > mostItemsEach * devices) return false;
  return work.reduce((sum, one) => sum + one, 0) >= tight * devices;
}

/** A way to fill a device: with the first item that is left, and up to three others. */
class Pick {
  score = Number.POSITIVE_INFINITY;
  bin = -1;
  count = 0;
  readonly at = new Int32Array(4);
}

/** Some devices without their whole items. */
class Completion {
  readonly #layout: Layout;
  readonly #random: Sequence;
  readonly #devices: readonly number[];
  /** Whole items, most work first; work and tokens of each. */
  readonly #items: Int32Array;
  readonly #work: Float64Array;
  readonly #memory: Float64Array;
  /** Room of each device. */
  readonly #roomWork: Float64Array;
  readonly #roomMemory: Float64Array;
  /** The bin of each item; −1: not yet. */
  readonly #bin: Int32Array;
  readonly #filled: Uint8Array;
  /** The bins that were filled one by one, the first one first. */
  readonly #order: number[] = [];
  readonly #rests: readonly Int32Array[];
  readonly #restWork: readonly Float64Array[];
  readonly #restMemory: readonly Float64Array[];
  #spareWork = 0;
  #spareMemory = 0;
  /** Steps that may still be taken. */
  left: number;

  constructor(layout: Layout, devices: readonly number[], budget: number, random: Sequence) {
    this.#layout = layout;
    this.#random = random;
    this.#devices = devices;
    this.left = budget;
    const { items, devices: all, work, memory } = layout.problem;
    const binOf = new Int32Array(all).fill(-1);
    devices.forEach((device, bin) => {
      binOf[device] = bin;
    });
    const whole: number[] = [];
    for (let item = 0; item < items; item += 1)
      if (layout.level[item] === 0 && binOf[layout.group[item]!]! >= 0) whole.push(item);
    this.#items = Int32Array.from(whole);
    this.#work = Float64Array.from(whole, (item) => work[item]!);
    this.#memory = Float64Array.from(whole, (item) => memory[item]!);
    this.#roomWork = Float64Array.from(devices, (device) => 1 - layout.work[device]!);
    this.#roomMemory = Float64Array.from(devices, (device) => 1 - layout.memory[device]!);
    for (const item of whole) {
      this.#roomWork[binOf[layout.group[item]!]!]! += work[item]!;
      this.#roomMemory[binOf[layout.group[item]!]!]! += memory[item]!;
    }
    this.#bin = new Int32Array(whole.length);
    this.#filled = new Uint8Array(devices.length);
    this.#rests = devices.map(() => new Int32Array(whole.length));
    this.#restWork = devices.map(() => new Float64Array(whole.length + 1));
    this.#restMemory = devices.map(() => new Float64Array(whole.length + 1));
  }

  /** Writes down the items that are in no bin, and what they have from each one on. */
  #rest(depth: number): number {
    const rest = this.#rests[depth]!;
    let count = 0;
    for (let at = 0; at < this.#bin.length; at += 1) if (this.#bin[at]! < 0) rest[count++] = at;
    const work = this.#restWork[depth]!;
    const memory = this.#restMemory[depth]!;
    work[count] = 0;
    memory[count] = 0;
    for (let at = count - 1; at >= 0; at -= 1) {
      work[at] = work[at + 1]! + this.#work[rest[at]!]!;
      memory[at] = memory[at + 1]! + this.#memory[rest[at]!]!;
    }
    return count;
  }

  /** Fills one bin, with the item that has most work, at random among the better ways. */
  #fillOne(depth: number): boolean {
    const count = this.#rest(depth);
    this.left -= this.#items.length;
    if (count === 0) return false;
    const unfilled = this.#devices.length - depth;
    const pick = new Pick();
    const bins = this.#devices.length;
    const from = this.#random.below(bins);
    for (let step = 0; step < bins && pick.bin < 0; step += 1) {
      const bin = (from + step) % bins;
      if (this.#filled[bin] === 0) this.#lookAt(bin, depth, count, unfilled, pick);
    }
    if (pick.bin < 0) return false;
    this.#spareWork -= this.#roomWork[pick.bin]!;
    this.#spareMemory -= this.#roomMemory[pick.bin]!;
    this.#filled[pick.bin] = 1;
    this.#order.push(pick.bin);
    for (let one = 0; one < pick.count; one += 1) {
      const at = pick.at[one]!;
      this.#bin[at] = pick.bin;
      this.#spareWork += this.#work[at]!;
      this.#spareMemory += this.#memory[at]!;
    }
    return true;
  }

  #lookAt(bin: number, depth: number, count: number, unfilled: number, pick: Pick): void {
    const rest = this.#rests[depth]!;
    const work = this.#work;
    const memory = this.#memory;
    const room = this.#roomWork[bin]! + slop;
    const roomMemory = this.#roomMemory[bin]! + slop;
    const mostLeft = (generous * this.#spareWork) / unfilled + slop;
    const usual = this.#restMemory[depth]![0]! / unfilled;
    const first = rest[0]!;
    const offer = (number: number, b: number, c: number, d: number, taken: number, tokens: number): void => {
      const over = room - taken;
      if (over < 0 || over > mostLeft || tokens > roomMemory || roomMemory - tokens > this.#spareMemory + slop) return;
      let score = over / mostLeft + (evenMemory * Math.max(0, usual - tokens)) / usual;
      score += (luck * this.#random.below(1024)) / 1024;
      if (number > 1 && work[b]! < small) score += 1;
      if (number > 2 && work[c]! < small) score += 1;
      if (number > 3 && work[d]! < small) score += 1;
      if (score >= pick.score) return;
      pick.score = score;
      pick.bin = bin;
      pick.count = number;
      pick.at[0] = first;
      pick.at[1] = b;
      pick.at[2] = c;
      pick.at[3] = d;
    };
    offer(1, 0, 0, 0, work[first]!, memory[first]!);
    for (let two = 1; two < count; two += 1) {
      const b = rest[two]!;
      const workTwo = work[first]! + work[b]!;
      if (workTwo > room) continue;
      const memoryTwo = memory[first]! + memory[b]!;
      offer(2, b, 0, 0, workTwo, memoryTwo);
      // The third one descends, so the fourth that fills the bin ascends.
      let four = count;
      for (let three = two + 1; three < count; three += 1) {
        const c = rest[three]!;
        const workThree = workTwo + work[c]!;
        if (workThree > room) continue;
        const memoryThree = memoryTwo + memory[c]!;
        offer(3, b, c, 0, workThree, memoryThree);
        while (four > three + 1 && workThree + work[rest[four - 1]!]! <= room) four -= 1;
        this.left -= 1;
        for (let at = Math.max(four, three + 1); at < count; at += 1) {
          const d = rest[at]!;
          const workFour = workThree + work[d]!;
          this.left -= 1;
          if (workFour < room - mostLeft) break;
          if (workFour <= room) offer(4, b, c, d, workFour, memoryThree + memory[d]!);
        }
      }
      this.left -= 1;
    }
  }

  /** Fills the bins that are left, trying all ways. */
  #fillAll(depth: number, stop: number): boolean {
    let bin = 0;
    while (this.#filled[bin] === 1) bin += 1;
    const count = this.#rest(depth);
    const rest = this.#rests[depth]!;
    if (depth === this.#devices.length - 1) {
      for (let at = 0; at < count; at += 1) this.#bin[rest[at]!] = bin;
      return true;
    }
    const restWork = this.#restWork[depth]!;
    const restMemory = this.#restMemory[depth]!;
    const room = this.#roomWork[bin]!;
    const roomMemory = this.#roomMemory[bin]!;
    const spareWork = this.#spareWork;
    const spareMemory = this.#spareMemory;
    this.#filled[bin] = 1;
    const go = (at: number, taken: number, tokens: number): boolean => {
      this.left -= 1;
      if (this.left < stop) return false;
      if (taken + restWork[at]! < room - spareWork - slop) return false;
      if (tokens + restMemory[at]! < roomMemory - spareMemory - slop) return false;
      if (at === count) {
        this.#spareWork = spareWork - room + taken;
        this.#spareMemory = spareMemory - roomMemory + tokens;
        return this.#fillAll(depth + 1, stop);
      }
      const one = rest[at]!;
      if (taken + this.#work[one]! <= room + slop && tokens + this.#memory[one]! <= roomMemory + slop) {
        this.#bin[one] = bin;
        if (go(at + 1, taken + this.#work[one]!, tokens + this.#memory[one]!)) return true;
        this.#bin[one] = -1;
      }
      return go(at + 1, taken, tokens);
    };
    if (go(0, 0, 0)) return true;
    this.#filled[bin] = 0;
    this.#spareWork = spareWork;
    this.#spareMemory = spareMemory;
    return false;
  }

  /** Fills all bins, again and again until it is done or the budget is spent. */
  run(): boolean {
    const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
    const spareWork = sum(this.#roomWork) - sum(this.#work);
    const spareMemory = sum(this.#roomMemory) - sum(this.#memory);
    if (spareWork < -slop || spareMemory < -slop) return false;
    const one = Math.max(0, this.#devices.length - atLast);
    this.#bin.fill(-1);
    this.#spareWork = spareWork;
    this.#spareMemory = spareMemory;
    while (this.left > 0) {
      while (this.#order.length < one && this.#fillOne(this.#order.length));
      const full = this.#order.length === one;
      if (full && this.#fillAll(one, Math.max(0, this.left - mostAtLast))) {
        this.#items.forEach((item, at) => {
          this.#layout.put(item, 0, this.#devices[this.#bin[at]!]!);
        });
        return true;
      }
      if (one === 0) return false;
      const keep = this.#random.below(this.#order.length);
      while (this.#order.length > keep) this.#empty(this.#order.pop()!);
    }
    return false;
  }

  /** Empties a bin. */
  #empty(bin: number): void {
    this.#filled[bin] = 0;
    this.#spareWork += this.#roomWork[bin]!;
    this.#spareMemory += this.#roomMemory[bin]!;
    for (let at = 0; at < this.#bin.length; at += 1) {
      if (this.#bin[at] !== bin) continue;
      this.#bin[at] = -1;
      this.#spareWork -= this.#work[at]!;
      this.#spareMemory -= this.#memory[at]!;
    }
  }
}

/**
 * Puts the whole items of some devices onto them again so that none of these is over a limit.
 *
 * @param budget - steps that may be taken
 * @returns whether that was found; if not, the layout is as before, and how many steps are left
 */
export function complete(
  layout: Layout,
  devices: readonly number[],
  budget: number,
  random: Sequence,
): { readonly done: boolean; readonly left: number } {
  const completion = new Completion(layout, devices, budget, random);
  const done = completion.run();
  return { done, left: completion.left };
}
