/**
 * Fills devices anew with their whole items where so little room is left that exchanges no longer help: one device after the
 * other, and the last few by trying all ways (bin completion).
 */
import { Bins } from './bins.ts';
import type { Layout } from './layout.ts';
import { type Problem, slop } from './problem.ts';
import type { Sequence } from './random.ts';

/** Number of devices that are left for the end, where all ways to fill them are tried. */
const atLast = 4;
/** Limit on the ways that are tried to fill the last devices. */
const mostAtLast = 400_000;
/** Items with less work than this are kept for the end, where they fill the gaps. */
const small = 0.03;
/** A device may leave unused at most this many times its share of the unused room. */
const generous = 1;
/** Weight of chance in the score of a way to fill; unused room, as a share of the allowed room, has weight 1. */
const luck = 2;
/** Weight, in the same score, of taking fewer tokens than the unfilled devices take on average. */
const evenMemory = 10;

/**
 * Devices are filled anew only with at most this many devices, at most `mostItemsEach` items per device, and a mean load of at
 * least `tight`.
 */
const mostDevices = 16;
const mostItemsEach = 5;
const tight = 0.995;

/** Whether there are few devices with so little room left that filling all of them anew is worth its time. */
export function isTight({ items, devices, work }: Problem): boolean {
  if (devices > mostDevices || items > mostItemsEach * devices) return false;
  return work.reduce((sum, one) => sum + one, 0) >= tight * devices;
}

/** A way to fill a device: the first remaining item, and up to three others. */
class Pick {
  score = Number.POSITIVE_INFINITY;
  bin = -1;
  count = 0;
  readonly at = new Int32Array(4);
}

/** Fills bins, at random and by trying all ways. */
class Completion {
  readonly #bins: Bins;
  readonly #random: Sequence;
  /** The bins that were filled one by one, in order. */
  readonly #order: number[] = [];
  /** Steps that may still be taken. */
  left: number;

  constructor(bins: Bins, budget: number, random: Sequence) {
    this.#bins = bins;
    this.left = budget;
    this.#random = random;
  }

  /** Fills one bin with the remaining item of most work, in one of the better ways, chosen at random. */
  #fillOne(depth: number): boolean {
    const count = this.#bins.rest(depth);
    this.left -= this.#bins.bin.length;
    if (count === 0) return false;
    const unfilled = this.#bins.count - depth;
    const pick = new Pick();
    const bins = this.#bins.count;
    const from = this.#random.below(bins);
    for (let step = 0; step < bins && pick.bin < 0; step += 1) {
      const bin = (from + step) % bins;
      if (this.#bins.filled[bin] === 0) this.#lookAt(bin, depth, count, unfilled, pick);
    }
    if (pick.bin < 0) return false;
    this.#bins.fill(pick.bin, pick.at, pick.count);
    this.#order.push(pick.bin);
    return true;
  }

  /** Weighs all ways to fill a bin that leave little enough room unused. */
  #lookAt(bin: number, depth: number, count: number, unfilled: number, pick: Pick): void {
    const { work, memory, spareWork, spareMemory } = this.#bins;
    const rest = this.#bins.rests[depth]!;
    const room = this.#bins.roomWork[bin]! + slop;
    const roomMemory = this.#bins.roomMemory[bin]! + slop;
    const mostLeft = (generous * spareWork) / unfilled + slop;
    const usual = this.#bins.restMemory[depth]![0]! / unfilled;
    const first = rest[0]!;
    const offer = (number: number, b: number, c: number, d: number, taken: number, tokens: number): void => {
      const over = room - taken;
      if (over < 0 || over > mostLeft || tokens > roomMemory || roomMemory - tokens > spareMemory + slop) return;
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
      // A smaller third item needs a larger fourth item to fill the bin.
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

  /** Fills the remaining bins, by trying all ways. */
  #fillAll(depth: number, stop: number): boolean {
    let bin = 0;
    while (this.#bins.filled[bin] === 1) bin += 1;
    const count = this.#bins.rest(depth);
    const rest = this.#bins.rests[depth]!;
    if (depth === this.#bins.count - 1) {
      for (let at = 0; at < count; at += 1) this.#bins.bin[rest[at]!] = bin;
      return true;
    }
    const restWork = this.#bins.restWork[depth]!;
    const restMemory = this.#bins.restMemory[depth]!;
    const room = this.#bins.roomWork[bin]!;
    const roomMemory = this.#bins.roomMemory[bin]!;
    const spareWork = this.#bins.spareWork;
    const spareMemory = this.#bins.spareMemory;
    this.#bins.filled[bin] = 1;
    const go = (at: number, taken: number, tokens: number): boolean => {
      this.left -= 1;
      if (this.left < stop) return false;
      if (taken + restWork[at]! < room - spareWork - slop) return false;
      if (tokens + restMemory[at]! < roomMemory - spareMemory - slop) return false;
      if (at === count) {
        this.#bins.spareWork = spareWork - room + taken;
        this.#bins.spareMemory = spareMemory - roomMemory + tokens;
        return this.#fillAll(depth + 1, stop);
      }
      const one = rest[at]!;
      if (taken + this.#bins.work[one]! <= room + slop && tokens + this.#bins.memory[one]! <= roomMemory + slop) {
        this.#bins.bin[one] = bin;
        if (go(at + 1, taken + this.#bins.work[one]!, tokens + this.#bins.memory[one]!)) return true;
        this.#bins.bin[one] = -1;
      }
      return go(at + 1, taken, tokens);
    };
    if (go(0, 0, 0)) return true;
    this.#bins.filled[bin] = 0;
    this.#bins.spareWork = spareWork;
    this.#bins.spareMemory = spareMemory;
    return false;
  }

  /** Tries to fill all bins, until an attempt succeeds or the budget is spent. */
  run(): boolean {
    const { count } = this.#bins;
    if (this.#bins.spareWork < -slop || this.#bins.spareMemory < -slop) return false;
    const one = Math.max(0, count - atLast);
    while (this.left > 0) {
      while (this.#order.length < one && this.#fillOne(this.#order.length));
      const full = this.#order.length === one;
      if (full && this.#fillAll(one, Math.max(0, this.left - mostAtLast))) {
        this.#bins.write();
        return true;
      }
      if (one === 0) return false;
      const keep = this.#random.below(this.#order.length);
      while (this.#order.length > keep) this.#bins.empty(this.#order.pop()!);
    }
    return false;
  }
}

/**
 * Places all whole items anew, so that no device is over a limit.
 *
 * @param budget - steps that may be taken
 * @returns whether such a layout was found (if not, the layout is as before), and the number of steps left
 */
export function complete(
  layout: Layout,
  budget: number,
  random: Sequence,
): { readonly done: boolean; readonly left: number } {
  const completion = new Completion(new Bins(layout), budget, random);
  const done = completion.run();
  return { done, left: completion.left };
}
