/** A batch in the units of the search: limits are 1, and sequences are sorted by work, largest first. */
import { cheapestFrom, type Instance, lowestLevel, topDegree } from '../instance.ts';
import { Budget } from './budget.ts';

/** A load may exceed a limit by this share: sums in another order differ by less, and a whole token is more. */
export const slop = 1e-9;

/** A batch whose limits are 1. An item is a sequence that is not empty; items are sorted by work, largest first. */
export interface Problem {
  readonly items: number;
  /** For each item, the index of its sequence in the batch. */
  readonly sequence: readonly number[];
  readonly devices: number;
  readonly levels: number;
  /** Devices of a top group. */
  readonly top: number;
  /** Number of top groups. */
  readonly groups: number;
  /** Compute of each item; the limit of a device is 1. */
  readonly work: Float64Array;
  /** Tokens of each item, as a share of the limit of a device, which is 1. */
  readonly memory: Float64Array;
  /** Cost of sharding, by level and item, scaled so that with all items at the last level the mean over the devices is 1. */
  readonly cost: readonly Float64Array[];
  /** For each item, the lowest level at which its share fits on a device. */
  readonly least: Uint8Array;
  /** For each item, the least cost of placing it. */
  readonly cheapest: Float64Array;
  /** Lower bound on the cost of a plan. */
  readonly bound: number;
  /** Steps that a search of this problem may take. */
  readonly budget: Budget;
}

/**
 * Returns the problem of an instance under limits.
 *
 * @param computeLimit - most compute of a device, > 0
 * @param memoryCap - most tokens of a device, > 0
 */
export function problemOf(
  instance: Instance,
  computeLimit: number,
  memoryCap: number,
  budget: Budget = new Budget(),
): Problem {
  const { levels, devices } = instance;
  const sequence = instance.byWork.filter((i) => instance.lengths[i]! > 0);
  const pick = (values: Float64Array, unit: number): Float64Array =>
    Float64Array.from(sequence, (i) => values[i]! / unit);
  const work = pick(instance.work, computeLimit);
  const memory = pick(instance.lengths, memoryCap);
  const total = instance.splitCost[levels - 1]!.reduce((sum, cost) => sum + cost, 0);
  const cost = instance.splitCost.map((costs) => pick(costs, total > 0 ? total / devices : 1));
  const least = Uint8Array.from(sequence, (_, item) =>
    lowestLevel(levels, (degree) => Math.max(work[item]!, memory[item]!) / degree <= 1 + slop),
  );
  const cheapest = Float64Array.from(least, (lowest, item) => cheapestFrom(cost, item, lowest));
  const top = topDegree(instance);
  return {
    items: sequence.length,
    sequence,
    devices,
    levels,
    top,
    groups: devices / top,
    work,
    memory,
    cost,
    least,
    cheapest,
    bound: cheapest.reduce((sum, one) => sum + one, 0),
    budget,
  };
}
