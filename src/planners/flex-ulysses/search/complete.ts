/**
 * Fills devices again with the whole items that lie on them, where so little room is left that exchanges no longer find
 * the way: one device after the other, and the last few by trying all ways (bin completion).
 */
import { Bins } from './bins.ts';
import type { Layout } from './layout.ts';
import { type Problem, slop } from './problem.ts';
import type { Sequence } from './random.ts';

/** Devices that are left for the end, where all ways to fill them are tried. */
const atLast = 4;
/** Ways to fill the last devices that are looked at. */
const mostAtLast = 400_000;
/** An item with less work is better kept for the end, where it fills what is left. */
const small = 0.03;
/** A device may leave over this much more than its part of all that is left over, relative. */
const generous = 1;
/** Weight of chance, beside the part that a device leaves over, relative to its part. */
const luck = 2;
/** Weight, beside the same, of a device that takes fewer tokens than the remaining ones have. */
const evenMemory = 10;

/** Devices are filled anew if they are no more than this, with no more items each, and a higher mean load. */
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

/** Fills bins, at random and by trying all ways. */
class Completion {
  readonly #bins: Bins;
  readonly #random: Sequence;
  /** The bins that were filled one by one, the first one first. */
  readonly #order: number[] = [];
  /** Steps that may still be taken. */
  left: number;

  constructor(bins: Bins, budget: number, random: Sequence) {
    this.#bins = bins;
    this.left = budget;
    this.#random = random;
  }

  /** Fills one bin, with the item that has most work, at random among the better ways. */
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

  /** Weighs the ways to fill a bin: all that leave little enough over. */
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

  /** Fills all bins, again and again until it is done or the budget is spent. */
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
 * Puts all whole items onto devices again so that none of these is over a limit.
 *
 * @param budget - steps that may be taken
 * @returns whether that was found; if not, the layout is as before, and how many steps are left
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
