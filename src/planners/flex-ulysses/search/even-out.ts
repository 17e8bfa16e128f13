/** Evens out devices by exchanging whole items, which adds no communication. */
import { IndexedHeap } from '../../../core/collections/heap.ts';
import type { Layout } from './layout.ts';
import { slop } from './problem.ts';

/** A few items of one device, exchanged together. */
interface Handful {
  readonly items: readonly number[];
  readonly work: number;
  readonly memory: number;
}

/** At most so many items of a device, of all sizes, take part in exchanges; three at a time only if there are few. */
const mostItems = 14;
const mostForThrees = 8;
/** Limit on the partners that are tried for a device. */
const mostPartners = 64;
/** For the price of one exchange, the search for partners may look at so many devices. */
const looksEach = 256;
/** Budget steps per exchange that is looked at, and the share of the remaining steps that all exchanges may take. */
const stepsEach = 2;
const share = 1 / 2;
/** A device with more load than this is nearly full. */
const tight = 0.98;
/** Least gain of an exchange. */
const least = 1e-10;

/** The handfuls of a device, sorted by work and by tokens, ascending. */
interface Handfuls {
  readonly byWork: readonly Handful[];
  readonly byMemory: readonly Handful[];
}

const workOf = (one: Handful): number => one.work;
const memoryOf = (one: Handful): number => one.memory;

/** Returns all ways to choose none, one, two or three items of a device. */
function handfuls(layout: Layout, items: readonly number[]): Handfuls {
  const { work, memory } = layout.problem;
  const found: Handful[] = [{ items: [], work: 0, memory: 0 }];
  const count = Math.min(items.length, mostItems);
  const most = count <= mostForThrees ? 3 : 2;
  for (let at = 0; at < count; at += 1) {
    const item = items[Math.floor((at * items.length) / count)]!;
    for (let before = found.length - 1; before >= 0; before -= 1) {
      const one = found[before]!;
      if (one.items.length >= most) continue;
      found.push({
        items: [...one.items, item],
        work: one.work + work[item]!,
        memory: one.memory + memory[item]!,
      });
    }
  }
  found.sort((a, b) => a.work - b.work);
  return { byWork: found, byMemory: [...found].sort((a, b) => a.memory - b.memory) };
}

/**
 * Weighs the pairs of handfuls whose difference in size is near `wanted`.
 *
 * @param size - the size by which both lists are sorted, ascending
 * @returns the number of pairs, as counted for the budget
 */
function near(
  mine: readonly Handful[],
  theirs: readonly Handful[],
  size: (one: Handful) => number,
  wanted: number,
  weigh: (given: Handful, taken: Handful) => void,
): number {
  let first = 0;
  for (const given of mine) {
    while (first < theirs.length && size(given) - size(theirs[first]!) > wanted) first += 1;
    for (let at = Math.max(0, first - 2); at < Math.min(theirs.length, first + 2); at += 1) weigh(given, theirs[at]!);
  }
  return 4 * mine.length;
}

interface Exchange {
  readonly partner: number;
  readonly given: Handful;
  readonly taken: Handful;
}

/** The unsharded items of each device, and the exchanges that they allow. */
class Bench {
  readonly #layout: Layout;
  readonly #items: number[][];
  readonly #handfuls: (Handfuls | undefined)[];
  /** Number of exchanges that may still be looked at. */
  left: number;

  constructor(layout: Layout, budget: number) {
    this.#layout = layout;
    this.left = budget;
    const { devices, items } = layout.problem;
    this.#items = Array.from({ length: devices }, () => []);
    this.#handfuls = new Array(devices);
    for (let item = 0; item < items; item += 1)
      if (layout.level[item] === 0) this.#items[layout.group[item]!]!.push(item);
  }

  #of(device: number): Handfuls {
    this.#handfuls[device] ??= handfuls(this.#layout, this.#items[device]!);
    return this.#handfuls[device];
  }

  /** Returns devices that are less loaded than the given one; if there are many, the next ones that have room. */
  #partners(device: number, load: number): number[] {
    const found: number[] = [];
    let looks = 0;
    const { length } = this.#items;
    const most = length <= mostPartners ? load - slop : Math.min(load - slop, 1);
    for (let next = 1; next < length && found.length < mostPartners; next += 1) {
      looks = next;
      const one = (device + next) % length;
      if (this.#layout.load(one) < most) found.push(one);
    }
    this.left -= Math.floor(looks / looksEach);
    return found;
  }

  /** Returns the exchange that lowers the larger load of the two devices most; below the limit, lower loads count little. */
  best(device: number, load: number): Exchange | undefined {
    const { work, memory } = this.#layout;
    const mine = this.#of(device);
    let best: Exchange | undefined;
    let most = least;
    for (const partner of this.#partners(device, load)) {
      const theirs = this.#of(partner);
      const workHere = work[device]!;
      const memoryHere = memory[device]!;
      const workThere = work[partner]!;
      const memoryThere = memory[partner]!;
      const weigh = (given: Handful, taken: Handful): void => {
        const moved = given.work - taken.work;
        const tokens = given.memory - taken.memory;
        const after = Math.max(workHere - moved, workThere + moved, memoryHere - tokens, memoryThere + tokens);
        // Below the limit only a thousandth of the gain counts, so that the most even exchange wins among those that fit.
        const gain = load - (after < 1 ? 1 - 1e-3 * (1 - after) : after);
        if (gain <= most || after >= load - least) return;
        most = gain;
        best = { partner, given, taken };
      };
      // Work and tokens differ. The quantity that is larger here is evened out by half of the difference between the devices. If
      // the partner is nearly full in the other quantity, only as much as fits is exchanged: two short sequences for one long
      // one.
      if (workHere >= memoryHere) {
        this.left -= near(mine.byWork, theirs.byWork, workOf, (workHere - workThere) / 2, weigh);
        if (memoryThere < tight) continue;
        this.left -= near(mine.byMemory, theirs.byMemory, memoryOf, Math.max(0, 1 - memoryThere), weigh);
      } else {
        this.left -= near(mine.byMemory, theirs.byMemory, memoryOf, (memoryHere - memoryThere) / 2, weigh);
        if (workThere < tight) continue;
        this.left -= near(mine.byWork, theirs.byWork, workOf, Math.max(0, 1 - workThere), weigh);
      }
    }
    return best;
  }

  make(device: number, { partner, given, taken }: Exchange): void {
    for (const item of given.items) this.#layout.put(item, 0, partner);
    for (const item of taken.items) this.#layout.put(item, 0, device);
    const without = (items: readonly number[], gone: readonly number[]): number[] =>
      items.filter((item) => !gone.includes(item));
    const remaining = without(this.#items[device]!, given.items);
    this.#items[partner] = [...without(this.#items[partner]!, taken.items), ...given.items];
    this.#items[device] = [...remaining, ...taken.items];
    this.#handfuls[device] = undefined;
    this.#handfuls[partner] = undefined;
  }
}

/**
 * Exchanges up to three items against up to three between two devices, the most loaded first, until no device is over a limit, or
 * no exchange helps. The loop ends, because each exchange lowers the larger load of its two devices.
 *
 * @param most - number of exchanges that may be looked at
 * @returns whether no device is over a limit
 */
export function evenOut(layout: Layout, most: number): boolean {
  const { devices, budget } = layout.problem;
  budget.spend(devices);
  const afford = (share * Math.max(0, budget.left)) / stepsEach;
  const bench = new Bench(layout, Math.min(most, afford));
  const isEven = exchangeAll(layout, bench);
  budget.spend((Math.min(most, afford) - bench.left) * stepsEach);
  if (!isEven && bench.left <= 0 && afford < most) budget.cut ??= 'steps';
  return isEven;
}

interface Loaded {
  readonly device: number;
  load: number;
  heapIndex: number;
}

function exchangeAll(layout: Layout, bench: Bench): boolean {
  const isOver = ({ load }: Loaded): boolean => load > 1 + slop;
  const all = Array.from({ length: layout.problem.devices }, (_, device): Loaded => {
    return { device, load: layout.load(device), heapIndex: -1 };
  });
  const heap = new IndexedHeap<Loaded>((a, b) => b.load - a.load || a.device - b.device);
  for (const one of all) heap.update(one);
  let over = all.filter(isOver).length;
  let stuck: Loaded[] = [];
  while (over > 0) {
    const worst = heap.peek();
    if (worst === undefined || worst.load <= 0 || bench.left <= 0) return false;
    const exchange = bench.best(worst.device, worst.load);
    if (exchange === undefined) {
      heap.remove(worst);
      stuck.push(worst);
      continue;
    }
    bench.make(worst.device, exchange);
    for (const one of [worst, all[exchange.partner]!]) {
      over -= Number(isOver(one));
      one.load = layout.load(one.device);
      over += Number(isOver(one));
      heap.update(one);
    }
    for (const one of stuck) heap.update(one);
    stuck = [];
  }
  return true;
}
