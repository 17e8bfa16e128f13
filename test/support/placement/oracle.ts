/**
 * The optimum of small placements, by mixed-integer linear programs. They share nothing with the planner but the shapes
 * of an instance and of a placement. Limits hold to a relative 2e-9: half of it is the tolerance of the solver, and half
 * is granted, so that a limit that a plan just reaches does not depend on how its sums are rounded.
 */
import type { Highs } from 'highs';
import { type Instance, type Placement, topDegree } from '../../../src/planners/flex-ulysses/instance.ts';
import { Milp } from './milp.ts';

/** A group of a level: with its two halves, down to single devices. */
interface Node {
  readonly level: number;
  readonly group: number;
  readonly halves: readonly Node[];
}

function nodeOf(level: number, group: number): Node {
  const halves = level === 0 ? [] : [nodeOf(level - 1, 2 * group), nodeOf(level - 1, 2 * group + 1)];
  return { level, group, halves };
}

const longestFirst = ({ lengths, work }: Instance): number[] =>
  Array.from(lengths.keys()).sort((a, b) => work[b]! - work[a]! || lengths[b]! - lengths[a]! || a - b);

const granted = 1 + 1e-9;

/** What a sequence takes of a limit. */
const share = (amount: number, limit: number): number => (amount === 0 ? 0 : amount / limit);

const largest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, value), 1e-300);

/**
 * Adds the symmetry breaking of parts that can be exchanged, where an item at the head of a list cannot be in a later
 * part than all before it: part k is empty, or has a smaller first item than part k + 1.
 *
 * @param parts - by part and item, the columns of which at most one is 1, and is 1 if the item is in the part
 */
function orderParts(milp: Milp, parts: readonly (readonly (readonly number[])[])[]): void {
  parts.slice(1).forEach((part, before) => {
    part.forEach((columns, item) => {
      if (columns.length === 0) return;
      const earlier = parts[before]!.slice(0, item).flat();
      milp.row({
        upper: 0,
        terms: [...columns.map((column) => [column, 1] as const), ...earlier.map((column) => [column, -1] as const)],
      });
    });
  });
}

/**
 * The least maximum over the top groups of the sum of their sequences' weights, ÷ the degree, with a cap on the sum of
 * their tokens. A plan can do no better than to shard each sequence over the whole of its top group, which loads the
 * devices of the group evenly.
 */
function leastMaximum(highs: Highs, instance: Instance, weights: Float64Array, memoryCap: number): number | undefined {
  const top = topDegree(instance);
  if (instance.lengths.some((length) => share(length / top, memoryCap) > granted)) return undefined;
  const unit = largest(weights) / top;
  const milp = new Milp();
  const maximum = milp.continuous(1);
  const order = longestFirst(instance);
  const groups = Array.from({ length: instance.devices / top }, () =>
    order.map((item) => ({ item, column: milp.binary() })),
  );
  order.forEach((_, at) => {
    milp.row({ lower: 1, upper: 1, terms: groups.map((group) => [group[at]!.column, 1]) });
  });
  for (const group of groups) {
    milp.row({
      upper: 0,
      terms: [[maximum, -1], ...group.map(({ item, column }) => [column, weights[item]! / top / unit] as const)],
    });
    if (memoryCap === Number.POSITIVE_INFINITY) continue;
    milp.row({
      upper: granted,
      terms: group.map(({ item, column }) => [column, share(instance.lengths[item]! / top, memoryCap)]),
    });
  }
  orderParts(
    milp,
    groups.map((group) => group.map(({ column }) => [column])),
  );
  const solution = milp.solve(highs);
  if (solution === undefined) return undefined;
  // Summed again, so that the result is exact and not only within the solver's tolerance.
  const sums = groups.map((group) =>
    group.reduce((sum, { item, column }) => sum + (solution[column]! > 0.5 ? weights[item]! : 0), 0),
  );
  return Math.max(...sums) / top;
}

/** The least compute of the most loaded device; nothing if no plan is within the memory limit. */
export function leastCompute(highs: Highs, instance: Instance, memoryCap: number): number | undefined {
  return leastMaximum(highs, instance, instance.work, memoryCap);
}

/** The least tokens of the device with most. */
export function leastMemory(highs: Highs, instance: Instance): number {
  return leastMaximum(highs, instance, instance.lengths, Number.POSITIVE_INFINITY)!;
}

/** A placement of least communication, and what it costs. */
export interface LeastCommunication {
  readonly communication: number;
  readonly placement: Placement;
}

/**
 * The least communication within limits; nothing if no plan is within them.
 *
 * @param computeLimit - most compute of a device
 * @param memoryCap - most tokens of a device
 */
export function leastCommunication(
  highs: Highs,
  instance: Instance,
  computeLimit: number,
  memoryCap: number,
): LeastCommunication | undefined {
  const { lengths, work, splitCost, levels, devices } = instance;
  const order = longestFirst(instance);
  const unit = largest(Float64Array.from(splitCost, largest));
  const milp = new Milp();
  const options: { item: number; level: number; group: number; column: number }[] = [];
  const chosen = order.map((): (readonly [number, number])[] => []);
  const byDevice = Array.from({ length: devices }, () => ({
    compute: [] as (readonly [number, number])[],
    memory: [] as (readonly [number, number])[],
  }));
  /** Columns of all options within a node, by item; adds them on the way, and orders halves that can be exchanged. */
  const within = (node: Node): readonly (readonly number[])[] => {
    const halves = node.halves.map(within);
    orderParts(milp, halves);
    const degree = 2 ** node.level;
    return order.map((item, at) => {
      const inside = halves.flatMap((half) => half[at]!);
      const own = { compute: work[item]! / degree, memory: lengths[item]! / degree };
      if (share(own.compute, computeLimit) > granted || share(own.memory, memoryCap) > granted) return inside;
      const column = milp.binary(splitCost[node.level]![item]! / unit);
      options.push({ item, level: node.level, group: node.group, column });
      chosen[at]!.push([column, 1]);
      for (let device = node.group * degree; device < (node.group + 1) * degree; device += 1) {
        byDevice[device]!.compute.push([column, share(own.compute, computeLimit)]);
        byDevice[device]!.memory.push([column, share(own.memory, memoryCap)]);
      }
      return [...inside, column];
    });
  };
  const top = topDegree(instance);
  orderParts(
    milp,
    Array.from({ length: devices / top }, (_, group) => within(nodeOf(levels - 1, group))),
  );
  for (const terms of chosen) milp.row({ lower: 1, upper: 1, terms });
  for (const { compute, memory } of byDevice) {
    milp.row({ upper: granted, terms: compute });
    milp.row({ upper: granted, terms: memory });
  }
  const solution = milp.solve(highs);
  if (solution === undefined) return undefined;
  const placement = { level: new Uint8Array(lengths.length), group: new Int32Array(lengths.length) };
  let communication = 0;
  for (const { item, level, group, column } of options) {
    if (solution[column]! < 0.5) continue;
    placement.level[item] = level;
    placement.group[item] = group;
    communication += splitCost[level]![item]!;
  }
  return { communication, placement };
}
