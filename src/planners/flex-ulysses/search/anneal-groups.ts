/** Simulated annealing over top groups: it changes the group of each item, and whether the item is spread. */
import { type GroupLayout, none } from './group-layout.ts';
import { copyLoad, emptyLoad, type Load, weigh } from './group-load.ts';
import { slop } from './problem.ts';
import type { Sequence } from './random.ts';
import { Annealing, type Schedule } from './schedule.ts';

/** The cheapest layout found that keeps the limits. */
export interface Found {
  readonly group: Int32Array;
  readonly spread: Uint8Array;
  readonly cost: number;
}

/**
 * How often each kind of step is drawn, out of 256: moving a layer, changing one item, moving one item; the remaining steps
 * exchange two items.
 */
const layers = 60;
const changes = 40;
const moves = 40;
/** Partners of an exchange are mostly neighbours in order of work, at most so many places apart. */
const nearby = 8;

class GroupAnnealing extends Annealing {
  readonly #layout: GroupLayout;
  /** Cost of spreading each item. */
  readonly #costs: Float64Array;
  readonly #layer: Int32Array;
  /** Loads of the two groups after a step. */
  readonly #here: Load = emptyLoad();
  readonly #there: Load = emptyLoad();
  readonly #found: { group: Int32Array; spread: Uint8Array; cost: number };
  found: Found | undefined;

  constructor(layout: GroupLayout, random: Sequence) {
    super(random, layout.problem.budget);
    this.#layout = layout;
    const { cost, levels } = layout.problem;
    this.#costs = cost[levels - 1]!;
    this.#layer = new Int32Array(layout.problem.top);
    this.#found = { group: layout.group.slice(), spread: layout.spread.slice(), cost: 0 };
  }

  protected step(): void {
    const random = this.random;
    const { items, groups, least } = this.#layout.problem;
    const { group, spread } = this.#layout;
    const item = random.below(items);
    const kind = random.next() >>> 24;
    if (kind < layers) return this.#moveLayer(item);
    if (kind < layers + changes) {
      const next = 1 - spread[item]!;
      if (next === 0 && least[item]! > 0) return;
      return this.#move(item, (kind & 1) === 0 ? group[item]! : random.below(groups), next);
    }
    if (kind < layers + changes + moves) return this.#move(item, random.below(groups), spread[item]!);
    const partner = kind < 216 ? item + random.below(2 * nearby + 1) - nearby : random.below(items);
    if (partner < 0 || partner >= items || partner === item) return;
    if (spread[item] === 0 && least[partner]! > 0) return;
    if (spread[partner] === 0 && least[item]! > 0) return;
    this.#exchange(item, partner);
  }

  #draft(group: number, load: Load): Load {
    copyLoad(this.#layout.loads[group]!, load);
    return load;
  }

  /** Keeps the draft loads of two groups. */
  #settle(home: number, other: number, over: number): void {
    copyLoad(this.#here, this.#layout.loads[home]!);
    if (home !== other) copyLoad(this.#there, this.#layout.loads[other]!);
    this.#took(over);
  }

  #took(over: number): void {
    const layout = this.#layout;
    layout.overall += over;
    if (layout.overall > slop || (this.found !== undefined && layout.cost >= this.found.cost - slop)) return;
    // The arrays are reused, because there are thousands of improvements.
    this.#found.group.set(layout.group);
    this.#found.spread.set(layout.spread);
    this.#found.cost = layout.cost;
    this.found = this.#found;
  }

  /**
   * Returns by how much a group would be over its limits. If that is clearly more than `allowed`, returns infinity without an exact
   * computation.
   *
   * @param leaves - a whole item that leaves the group, or none
   * @param joins - a whole item that joins the group, or none
   */
  #overIf(group: number, load: Load, leaves: number, joins: number, allowed: number): number {
    const layout = this.#layout;
    const { top } = layout.problem;
    if ((load.spreadWork + load.wholeWork) / top - 1 > allowed) return Number.POSITIVE_INFINITY;
    if (leaves !== none || joins !== none) {
      layout.findPeaks(group, leaves, joins, 1 + allowed - load.spreadWork / top, load);
    }
    load.over = layout.overOf(load);
    return load.over;
  }

  /** Moves an item to a group, where it is spread or whole. */
  #move(item: number, to: number, next: number): void {
    const layout = this.#layout;
    const { problem } = layout;
    const from = layout.group[item]!;
    const now = layout.spread[item]!;
    if (from === to && now === next) return;
    const before = layout.loads[from]!.over + (from === to ? 0 : layout.loads[to]!.over);
    const allowed = this.allowed((next - now) * this.#costs[item]!) + before;
    if (allowed < 0) return;
    const leaves = now === 1 ? none : item;
    const joins = next === 1 ? none : item;
    const here = this.#draft(from, this.#here);
    weigh(here, problem, item, now, -1);
    let after: number;
    if (from === to) {
      weigh(here, problem, item, next, 1);
      after = this.#overIf(from, here, leaves, joins, allowed);
    } else {
      after = this.#overIf(from, here, leaves, none, allowed);
      if (after > allowed) return;
      const there = this.#draft(to, this.#there);
      weigh(there, problem, item, next, 1);
      after += this.#overIf(to, there, none, joins, allowed - after);
    }
    if (after > allowed) return;
    layout.take(item);
    layout.put(item, to, next);
    this.#settle(from, to, after - before);
  }

  /** Exchanges two items. */
  #exchange(item: number, partner: number): void {
    const layout = this.#layout;
    const { problem } = layout;
    const home = layout.group[item]!;
    const other = layout.group[partner]!;
    const mine = layout.spread[item]!;
    const theirs = layout.spread[partner]!;
    if (home === other && mine === theirs) return;
    const costs = this.#costs;
    const before = layout.loads[home]!.over + (home === other ? 0 : layout.loads[other]!.over);
    const allowed = this.allowed((theirs - mine) * (costs[item]! - costs[partner]!)) + before;
    if (allowed < 0) return;
    const here = this.#draft(home, this.#here);
    weigh(here, problem, item, mine, -1);
    weigh(here, problem, partner, mine, 1);
    let after: number;
    if (home === other) {
      weigh(here, problem, partner, theirs, -1);
      weigh(here, problem, item, theirs, 1);
      after = this.#overIf(home, here, mine === 1 ? partner : item, mine === 1 ? item : partner, allowed);
    } else {
      after = this.#overIf(home, here, mine === 1 ? none : item, mine === 1 ? none : partner, allowed);
      if (after > allowed) return;
      const there = this.#draft(other, this.#there);
      weigh(there, problem, partner, theirs, -1);
      weigh(there, problem, item, theirs, 1);
      after += this.#overIf(other, there, theirs === 1 ? none : partner, theirs === 1 ? none : item, allowed - after);
    }
    if (after > allowed) return;
    layout.take(item);
    layout.take(partner);
    layout.put(item, other, theirs);
    layout.put(partner, home, mine);
    this.#settle(home, other, after - before);
  }

  /**
   * Spreads some items of a group that are neighbours in order of work, or makes them whole; mostly as many items as the group has
   * devices. Spreading only one item of a layer of whole items would not help, as its device would then be empty.
   */
  #moveLayer(item: number): void {
    const layout = this.#layout;
    const { items, top, least } = layout.problem;
    const { group, spread } = layout;
    const now = spread[item]!;
    if (now === 1 && least[item]! > 0) return;
    const home = group[item]!;
    const wanted = this.random.below(10) < 7 ? top : 1 + this.random.below(top);
    let count = 0;
    let costs = 0;
    let one = item;
    for (; one < items && count < wanted; one += 1) {
      if (group[one] !== home || spread[one] !== now || (now === 1 && least[one]! > 0)) continue;
      this.#layer[count] = one;
      count += 1;
      costs += this.#costs[one]!;
    }
    this.budget.left -= one - item;
    const allowed = this.allowed(now === 1 ? -costs : costs) + layout.loads[home]!.over;
    if (count < 2 || allowed < 0) return;
    const layer = this.#layer.subarray(0, count);
    const load = layout.loads[home]!;
    const { peakWork, peakMemory, over } = load;
    layout.turn(layer, 1 - now);
    if (layout.measureGroup(home) <= allowed) return this.#took(load.over - over);
    layout.turn(layer, now);
    load.peakWork = peakWork;
    load.peakMemory = peakMemory;
    load.over = over;
  }
}

/**
 * Anneals a layout, which is left in its last state.
 *
 * @returns the cheapest layout within all limits, if there was any
 */
export function annealGroups(layout: GroupLayout, schedule: Schedule, random: Sequence): Found | undefined {
  layout.measure();
  const annealing = new GroupAnnealing(layout, random);
  annealing.run(schedule);
  return annealing.found;
}
