/** Simulated annealing over devices: an item may have any degree and be on any group. */
import { Layers } from './layers.ts';
import type { Layout, LayoutCopy } from './layout.ts';
import { slop } from './problem.ts';
import type { Sequence } from './random.ts';
import { Annealing, type Schedule } from './schedule.ts';

/** Shares of the steps, out of 256: `changes` change a degree and `moves` move an item; the rest exchange two items. */
const changes = 64;
const moves = 38;
/** Out of 256 changes of a degree, so many choose any degree; the others switch between whole and the usual degree. */
const anyDegree = 24;
const nearby = 8;

const positive = (value: number): number => (value > 0 ? value : 0);

class DeviceAnnealing extends Annealing {
  readonly #layout: Layout;
  readonly #layers: Layers | undefined;
  /** Steps of 256 that move a layer. */
  readonly #moved: number;
  readonly #usual: number;
  /** Excess of each device over its limits. */
  readonly #over: Float64Array;
  #overall = 0;
  readonly #frozen: Schedule['frozen'];
  readonly #copy: { level: Uint8Array; group: Int32Array; cost: number };
  found: LayoutCopy | undefined;

  constructor(layout: Layout, random: Sequence, { frozen, layers = 0, usual }: Schedule) {
    super(random, layout.problem.budget);
    this.#layout = layout;
    this.#frozen = frozen;
    this.#moved = layers;
    this.#layers = layers > 0 ? new Layers(layout) : undefined;
    this.#usual = usual ?? layout.problem.levels - 1;
    this.#copy = layout.keep();
    this.#over = new Float64Array(layout.problem.devices);
    for (let device = 0; device < this.#over.length; device += 1) this.#measure(device);
    this.#overall = this.#over.reduce((sum, over) => sum + over, 0);
    this.#keep();
  }

  #measure(device: number): void {
    const { work, memory } = this.#layout;
    this.#over[device] = positive(work[device]! - 1) + positive(memory[device]! - 1);
  }

  #keep(): void {
    if (this.#overall > slop) return;
    if (this.found !== undefined && this.#layout.cost >= this.found.cost - slop) return;
    // The arrays are reused, because there are thousands of improvements.
    this.#copy.level.set(this.#layout.level);
    this.#copy.group.set(this.#layout.group);
    this.#copy.cost = this.#layout.cost;
    this.found = this.#copy;
  }

  protected step(): void {
    const random = this.random;
    const layout = this.#layout;
    const { items, devices, least } = layout.problem;
    const item = random.below(items);
    const level = layout.level[item]!;
    const group = layout.group[item]!;
    if (this.#layers !== undefined && random.next() >>> 24 < this.#moved) return this.#moveLayer(this.#layers, item);
    const kind = random.next() >>> 24;
    if (kind < changes && this.#frozen === undefined) return this.#changeDegree(item, level, group);
    if (kind < changes + moves) {
      const to = level === 0 ? this.#roomier(random.below(devices)) : random.below(devices >> level);
      if (to !== group) this.#exchange(item, -1, level, to);
      return;
    }
    const partner = this.#partnerOf(item, kind);
    if (partner < 0 || partner >= items || partner === item) return;
    const theirs = layout.level[partner]!;
    if (theirs < least[item]! || level < least[partner]! || (this.#frozen === 'items' && theirs !== level)) return;
    if (theirs === level && layout.group[partner] === group) return;
    this.#exchange(item, partner, theirs, layout.group[partner]!);
  }

  /** Returns the less loaded of a device and another one. */
  #roomier(device: number): number {
    const other = this.random.below(this.#over.length);
    return this.#layout.work[other]! < this.#layout.work[device]! ? other : device;
  }

  #changeDegree(item: number, level: number, group: number): void {
    const random = this.random;
    const { levels, devices, least } = this.#layout.problem;
    let next = level === 0 ? this.#usual : 0;
    if (random.next() >>> 24 < anyDegree) next = random.below(levels);
    if (next < least[item]! || next === level) return;
    const near = (random.next() & 1) === 0;
    let to: number;
    if (near)
      to = next > level ? group >> (next - level) : (group << (level - next)) + random.below(1 << (level - next));
    else {
      to = random.below(devices >> next);
      if (next === 0) to = this.#roomier(to);
    }
    this.#exchange(item, -1, next, to);
  }

  /**
   * Picks a partner for an exchange: an item that would bring the device to its limit, a neighbour in order of work, or any item.
   */
  #partnerOf(item: number, kind: number): number {
    const random = this.random;
    const { items, work } = this.#layout.problem;
    if (kind < 180 && this.#layout.level[item] === 0) {
      const wanted = work[item]! - this.#layout.work[this.#layout.group[item]!]! + 1;
      let low = 0;
      let high = items;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (work[middle]! > wanted) low = middle + 1;
        else high = middle;
      }
      return low + random.below(7) - 3;
    }
    return kind < 230 ? item + random.below(2 * nearby + 1) - nearby : random.below(items);
  }

  /** Puts an item at a level on a group; a partner, if any, takes the former place of the item. */
  #exchange(item: number, partner: number, level: number, group: number): void {
    const layout = this.#layout;
    const { work, memory, cost } = layout.problem;
    const from = layout.level[item]!;
    const fromGroup = layout.group[item]!;
    let costs = cost[level]![item]! - cost[from]![item]!;
    let moved = work[item]!;
    let tokens = memory[item]!;
    if (partner >= 0) {
      costs += cost[from]![partner]! - cost[level]![partner]!;
      moved -= work[partner]!;
      tokens -= memory[partner]!;
    }
    const allowed = this.allowed(costs);
    const a = fromGroup << from;
    const aEnd = (fromGroup + 1) << from;
    const b = group << level;
    const bEnd = (group + 1) << level;
    const lessWork = moved / (1 << from);
    const lessTokens = tokens / (1 << from);
    const moreWork = moved / (1 << level);
    const moreTokens = tokens / (1 << level);
    // Groups are nested: if two overlap, one contains the other.
    const low = Math.min(a, b);
    const high = Math.max(aEnd, bEnd);
    const apart = aEnd <= b || bEnd <= a;
    this.budget.left -= 2 * (apart ? aEnd - a + bEnd - b : high - low);
    let over = 0;
    for (let device = apart ? a : low; device < (apart ? aEnd : high); device += 1) {
      const gone = device >= a && device < aEnd;
      const come = device >= b && device < bEnd;
      over += this.#change(
        device,
        (come ? moreWork : 0) - (gone ? lessWork : 0),
        (come ? moreTokens : 0) - (gone ? lessTokens : 0),
      );
    }
    if (apart) for (let device = b; device < bEnd; device += 1) over += this.#change(device, moreWork, moreTokens);
    if (over > allowed) return;
    this.#put(item, level, group);
    if (partner >= 0) this.#put(partner, from, fromGroup);
    for (let device = a; device < aEnd; device += 1) this.#measure(device);
    for (let device = b; device < bEnd; device += 1) this.#measure(device);
    this.#overall += over;
    this.#keep();
  }

  #put(item: number, level: number, group: number): void {
    this.#layers?.leave(item);
    this.#layout.put(item, level, group);
    this.#layers?.enter(item);
  }

  /** Spreads one whole item of each device of a group over the group, or makes such spread items whole. */
  #moveLayer(layers: Layers, item: number): void {
    if (!layers.take(item, this.random)) return;
    const { work, memory, cost } = this.#layout.problem;
    const { items, devices, level, group, isSpread } = layers;
    const size = 1 << level;
    this.budget.left -= 4 * size;
    let sumWork = 0;
    let sumMemory = 0;
    let costs = 0;
    for (let at = 0; at < size; at += 1) {
      const one = items[at]!;
      sumWork += work[one]!;
      sumMemory += memory[one]!;
      costs += cost[level]![one]! - cost[0]![one]!;
    }
    const sign = isSpread ? -1 : 1;
    const allowed = this.allowed(sign * costs);
    let over = 0;
    for (let at = 0; at < size; at += 1) {
      const one = items[at]!;
      over += this.#change(
        devices[at]!,
        sign * (sumWork / size - work[one]!),
        sign * (sumMemory / size - memory[one]!),
      );
    }
    if (over > allowed) return;
    for (let at = 0; at < size; at += 1) {
      if (isSpread) this.#put(items[at]!, 0, devices[at]!);
      else this.#put(items[at]!, level, group);
    }
    for (let at = 0; at < size; at += 1) this.#measure(devices[at]!);
    this.#overall += over;
    this.#keep();
  }

  #change(device: number, work: number, memory: number): number {
    const after = positive(this.#layout.work[device]! + work - 1) + positive(this.#layout.memory[device]! + memory - 1);
    return after - this.#over[device]!;
  }
}

/**
 * Anneals a layout, which is left in its last state.
 *
 * @returns the cheapest layout within all limits, if there was any; the first layout counts too
 */
export function annealDevices(layout: Layout, schedule: Schedule, random: Sequence): LayoutCopy | undefined {
  const annealing = new DeviceAnnealing(layout, random, schedule);
  annealing.run(schedule);
  return annealing.found;
}
