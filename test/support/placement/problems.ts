/** Problems of the search of flex-ulysses, drawn for tests of its parts, and what a layout of them is worth, from scratch. */
import { Budget } from '../../../src/planners/flex-ulysses/search/budget.ts';
import { type Problem, slop } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import type { Schedule } from '../../../src/planners/flex-ulysses/search/schedule.ts';
import { generator } from '../basics/numbers.ts';

/** What a problem is like. */
export interface Drawn {
  readonly items: number;
  readonly devices: number;
  /** Largest degree: a power of two that divides the devices. */
  readonly top: number;
  /** Mean work and tokens of a device, where the limits are 1. */
  readonly work: number;
  readonly memory: number;
  /** How uneven the items are: the ratio of the largest to the smallest. */
  readonly ratio?: number;
  readonly seed: number;
}

/** Sizes whose largest is so many times the smallest, with a given sum. */
function sizes(random: () => number, count: number, ratio: number, total: number): Float64Array {
  const drawn = Float64Array.from({ length: count }, () => ratio ** random());
  const sum = drawn.reduce((all, one) => all + one, 0);
  return drawn.map((one) => (one * total) / sum);
}

/**
 * A problem whose items have work, tokens and costs that have nothing to do with each other. Nothing of the planner makes
 * it: what is drawn before the first test would count as run by all of them.
 */
export function drawProblem({ items, devices, top, work, memory, ratio = 20, seed }: Drawn): Problem {
  const random = generator(seed * 7919 + 13);
  for (let skipped = 0; skipped < 20; skipped += 1) random();
  const levels = Math.log2(top) + 1;
  const works = sizes(random, items, ratio, work * devices);
  const tokens = sizes(random, items, ratio, memory * devices);
  const sequence = Array.from(works.keys()).sort((a, b) => works[b]! - works[a]! || a - b);
  const costs = Array.from({ length: levels }, (_, level) =>
    Float64Array.from({ length: items }, () => (level === 0 ? 0 : (0.5 + random()) / 2 ** level)),
  );
  const total = costs.at(-1)!.reduce((sum, one) => sum + one, 0);
  const cost = costs.map((one) => Float64Array.from(sequence, (i) => (total === 0 ? 0 : (one[i]! * devices) / total)));
  const least = Uint8Array.from(sequence, (i) => {
    const needed = Math.ceil(Math.log2(Math.max(1, works[i]! - slop, tokens[i]! - slop)));
    return Math.min(levels - 1, needed);
  });
  const cheapest = Float64Array.from(least, (lowest, item) => Math.min(...cost.slice(lowest).map((one) => one[item]!)));
  return {
    items,
    sequence,
    devices,
    levels,
    top,
    groups: devices / top,
    work: Float64Array.from(sequence, (i) => works[i]!),
    memory: Float64Array.from(sequence, (i) => tokens[i]!),
    cost,
    least,
    cheapest,
    bound: cheapest.reduce((sum, one) => sum + one, 0),
    budget: new Budget(),
  };
}

/** Where each item is. */
export interface Places {
  readonly level: ArrayLike<number>;
  readonly group: ArrayLike<number>;
}

/** What a layout puts on each device, and what it costs. */
export function tally({ items, devices, work, memory, cost }: Problem, { level, group }: Places) {
  const works = new Array<number>(devices).fill(0);
  const memories = new Array<number>(devices).fill(0);
  let costs = 0;
  for (let item = 0; item < items; item += 1) {
    if (group[item]! < 0) continue;
    const degree = 2 ** level[item]!;
    costs += cost[level[item]!]![item]!;
    for (let rank = 0; rank < degree; rank += 1) {
      works[group[item]! * degree + rank]! += work[item]! / degree;
      memories[group[item]! * degree + rank]! += memory[item]! / degree;
    }
  }
  const above = (loads: readonly number[]): number => loads.reduce((sum, load) => sum + Math.max(0, load - 1), 0);
  return {
    work: works,
    memory: memories,
    cost: costs,
    /** What is over the limits: work and tokens, all devices together. */
    over: above(works) + above(memories),
    fits: [...works, ...memories].every((load) => load <= 1 + slop),
  };
}

/** Random numbers that can be listened to: told before each is drawn. */
export class HeardSequence extends Sequence {
  heard: () => void = () => {};

  override next(): number {
    this.heard();
    return super.next();
  }
}

/** The sizes of a list, rounded as far as sums in another order agree. */
export const rounded = (values: ArrayLike<number>): number[] =>
  Array.from(values, (one) => Math.round(one * 1e9) / 1e9 + 0);

/** A schedule so cold that no step is taken that makes things worse. */
export const cold = (price: number, steps: number): Schedule => ({
  steps,
  temperature: [1e-15, 1e-15],
  price: [price, price],
});

/** One so hot that any step is taken. */
export const hot = (steps: number): Schedule => ({ steps, temperature: [1e9, 1e9], price: [1, 1] });
