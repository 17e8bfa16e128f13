/** Searches for the best balance. Top groups are bins; each sequence goes into one bin, spread over all of its devices. */
import { computeBound } from '../bounds.ts';
import { descending, type Instance, topDegree } from '../instance.ts';
import { areAlike } from './alike.ts';
import { annealDevices } from './anneal-devices.ts';
import { Budget } from './budget.ts';
import { deal, takeNeighbours } from './construct-alike.ts';
import { evenOut } from './even-out.ts';
import { exactBins, type Packed } from './exact-bins.ts';
import { Layout } from './layout.ts';
import { type Problem, slop } from './problem.ts';
import { Sequence } from './random.ts';
import type { Schedule } from './schedule.ts';

/** The most even balance found for a batch, and its bound. */
export interface Balance {
  /** The least compute found for the most loaded device. */
  readonly compute: number;
  /** Lower bound on `compute`, by {@link computeBound}. */
  readonly bound: number;
  /** Lower bound on the compute of any plan: `bound`, or `compute` if all placements were tried. */
  readonly leastCompute: number;
  /** Limit on the tokens of a device: the requested limit, or the least limit found if no plan keeps the requested one. */
  readonly memoryCap: number;
  /** The top group of each sequence. */
  readonly group: Int32Array;
}

/** Bins to fill; each item has two sizes, and each size has a limit. */
interface Bins {
  readonly count: number;
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** Items, ordered by the first size, largest first. */
  readonly sequence: readonly number[];
}

/** With at most this many items, all ways to fill the bins are tried. */
const mostForExact = 16;
/** A balance is known well if its relative distance to the bound is at most this. */
const wellKnown = 4e-4;
/** Limits to try one after the other, as shares above the bound, for the fullest bin. */
const steps = [0, 2e-4, 1e-3, 5e-3, 0.02, 0.1];
const exchanges = 100_000;
/** Bins are even enough if their relative distance to the bound is at most this. */
const close = 1e-4;
const schedule: Schedule = { steps: 30_000, temperature: [0.03, 1e-6], price: [1, 1] };
/** Replaces a limit of 0, so that sizes can be divided by the limit. */
const smallest = 1e-6;

/** Returns the bins as a problem with one level. Both limits are 1: first sizes are divided by `limit`, second sizes by `cap`. */
function binProblem({ count, first, second, sequence }: Bins, limit: number, asked: number, budget: Budget): Problem {
  const cap = Math.max(asked, smallest);
  const items = sequence.length;
  const pick = (values: Float64Array, unit: number): Float64Array =>
    Float64Array.from(sequence, (i) => (values[i] === 0 ? 0 : values[i]! / unit));
  return {
    items,
    sequence,
    devices: count,
    levels: 1,
    top: 1,
    groups: count,
    work: pick(first, limit),
    memory: pick(second, cap),
    cost: [new Float64Array(items)],
    least: new Uint8Array(items),
    cheapest: new Float64Array(items),
    bound: 0,
    budget,
  };
}

/** Returns the largest first size of a bin, and whether every second size keeps its limit. */
function fullest(layout: Layout): { readonly most: number; readonly fits: boolean } {
  let most = 0;
  let fits = true;
  for (let bin = 0; bin < layout.problem.devices; bin += 1) {
    most = Math.max(most, layout.work[bin]!);
    if (layout.memory[bin]! > 1 + slop) fits = false;
  }
  return { most, fits };
}

/**
 * Puts each item, largest first, into the bin with the least first size among those where the second size fits; if there is none,
 * into the bin with the least second size.
 */
function fill(layout: Layout): void {
  const { items, devices, memory, budget } = layout.problem;
  budget.spend(items * devices);
  for (let item = 0; item < items; item += 1) {
    let best = -1;
    let roomiest = 0;
    for (let bin = 0; bin < devices; bin += 1) {
      if (layout.memory[bin]! < layout.memory[roomiest]!) roomiest = bin;
      if (layout.memory[bin]! + memory[item]! > 1 + slop) continue;
      if (best < 0 || layout.work[bin]! < layout.work[best]!) best = bin;
    }
    layout.put(item, 0, best < 0 ? roomiest : best);
  }
}

/** Deals out nearly equal items, the same number to each bin; bins that get one item more get shorter ones. */
function dealOut(layout: Layout): void {
  const { items, devices, work } = layout.problem;
  const few = Math.floor(items / devices);
  const less = devices - (items - few * devices);
  const all = Array.from({ length: items }, (_, item) => item);
  let first = 0;
  for (const list of takeNeighbours(work, all, few * less, less / devices)) {
    const count = first === 0 ? less : devices - less;
    const bins = deal(
      work,
      list.map((item) => [item]),
      count,
    );
    list.forEach((item, at) => {
      layout.put(item, 0, first + bins[at]!);
    });
    first = count;
  }
}

/** Bins, and how even they are. */
interface Found {
  readonly bin: Int32Array;
  /** First size of the fullest bin. */
  readonly most: number;
  /** Lower bound on the first size of the fullest bin. */
  readonly least: number;
}

/**
 * Searches for bins with the least first size in the fullest bin, while the second size keeps its limit.
 *
 * @param bound - lower bound on the first size of the fullest bin
 * @returns `undefined` if no bins were found that keep the second limit
 */
function evenBins(bins: Bins, bound: number, cap: number, budget: Budget): Found | undefined {
  if (bins.second.some((size) => size > cap * (1 + slop))) return undefined;
  const unit = Math.max(bound, smallest);
  const random = new Sequence(1);
  const isExact = bins.sequence.length <= mostForExact;
  let best: Packed | undefined;
  for (const above of steps) {
    if (best !== undefined && (best.most <= 1 + above + close || budget.isSpent)) break;
    const layout = new Layout(binProblem(bins, unit * (1 + above), cap, budget));
    const ways: ((bins: Layout) => void)[] = [!isExact && areAlike(layout.problem) ? dealOut : fill];
    // If all bins are tried afterwards, the first attempt is a good enough start.
    if (!isExact) ways.push((filled) => annealDevices(filled, schedule, random));
    for (const way of ways) {
      way(layout);
      evenOut(layout, exchanges);
      const { most, fits } = fullest(layout);
      const scaled = most * (1 + above);
      if (fits && (best === undefined || scaled < best.most)) best = { bin: layout.group.slice(), most: scaled };
      if (best !== undefined && best.most <= 1 + above + close) break;
    }
  }
  const problem = binProblem(bins, unit, cap, budget);
  const tried = isExact ? exactBins(problem, best?.most ?? Number.POSITIVE_INFINITY) : undefined;
  const packed = tried?.packed ?? best;
  if (packed === undefined) return undefined;
  const bin = new Int32Array(problem.items);
  problem.sequence.forEach((one, item) => {
    bin[one] = packed.bin[item]!;
  });
  return { bin, most: packed.most * unit, least: tried?.complete === true ? packed.most * unit : bound };
}

/** Searches for groups with as few tokens as possible in the fullest group. */
function leastMemory({ lengths }: Instance, count: number, budget: Budget): Found {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const second = new Float64Array(lengths.length);
  const bins = { count, first: lengths, second, sequence: descending(lengths) };
  return evenBins(bins, Math.max(total / count, longest), 1, budget)!;
}

/** Returns the work of the group with most work. */
function mostWork({ work }: Instance, bin: Int32Array, groups: number): number {
  const loads = new Float64Array(groups);
  bin.forEach((group, i) => {
    loads[group]! += work[i]!;
  });
  return loads.reduce((most, load) => Math.max(most, load), 0);
}

/** Searches for the most even balance of a batch. */
export function bestBalance(instance: Instance, budget: Budget = new Budget()): Balance {
  const top = topDegree(instance);
  const groups = instance.devices / top;
  const bins = { count: groups, first: instance.work, second: instance.lengths, sequence: instance.byWork };
  const even = (memoryCap: number, bound: number): Balance | undefined => {
    const found = evenBins(bins, bound * top, memoryCap * top, budget);
    if (found === undefined) return undefined;
    const { bin, most, least } = found;
    return { compute: most / top, bound, leastCompute: least / top, memoryCap, group: bin };
  };
  const asked = even(instance.memoryCap, computeBound(instance, instance.memoryCap));
  if (asked !== undefined) return asked;
  const { bin, most } = leastMemory(instance, groups, budget);
  const memoryCap = Math.max(instance.memoryCap, most / top);
  const compute = mostWork(instance, bin, groups) / top;
  const bound = computeBound(instance, memoryCap);
  return even(memoryCap, bound) ?? { compute, bound, leastCompute: 0, memoryCap, group: bin };
}

/**
 * Returns the limit on the compute of a device: the best balance plus the tolerance. If the balance is not known well, the
 * tolerance counts from the bound, so that it is kept whatever the best balance is.
 */
export function computeLimit({ compute, leastCompute }: Balance, tolerance: number): number {
  return Math.max(compute, (1 + tolerance) * Math.min(compute, leastCompute * (1 + wellKnown)));
}
