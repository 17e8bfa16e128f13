/** Lower bounds on the compute and the communication of any plan. */
import { leastRoom } from './counting.ts';
import { cheapestFrom, descending, type Instance, lowestLevel, topDegree } from './instance.ts';

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/**
 * With more sequences per group, the bound by counting exceeds the mean by at most a thousandth, and its cost grows with the square
 * of the number of sequences.
 */
const mostEach = 1024;

/**
 * Bounds the compute of the most loaded device by counting, with K top groups: of the j · K + 1 sequences with most work, some top
 * group has at least j + 1, and their work is at least that of the last j + 1 of them.
 */
function pigeonhole(instance: Instance, byWork: readonly number[]): number {
  const { work, devices } = instance;
  const top = topDegree(instance);
  const groups = devices / top;
  let least = 0;
  for (let j = 0; j < mostEach && j * groups < byWork.length; j += 1) {
    let together = 0;
    for (let at = j * groups - j; at <= j * groups; at += 1) together += work[byWork[at]!]!;
    least = Math.max(least, together / top);
  }
  return least;
}

/**
 * Bounds the compute of the most loaded device by memory: the g sequences with most work lie in g′ ≤ g top groups. These groups
 * must also hold the tokens that do not fit into the other groups; their work is at least that of the tokens with least work per
 * token.
 */
function memoryComplement(instance: Instance, byWork: readonly number[], memoryCap: number): number {
  const { work, lengths, devices } = instance;
  const top = topDegree(instance);
  const groups = devices / top;
  const tokens = sum(lengths);
  const roomPerGroup = top * memoryCap;
  const perToken = lengths.map((length, i) => (length === 0 ? 0 : work[i]! / length));
  const cheapest = descending(perToken).reverse();
  const tokensUpTo = new Float64Array(cheapest.length + 1);
  const workUpTo = new Float64Array(cheapest.length + 1);
  cheapest.forEach((i, at) => {
    tokensUpTo[at + 1] = tokensUpTo[at]! + lengths[i]!;
    workUpTo[at + 1] = workUpTo[at]! + work[i]!;
  });
  const cheapestWorkOf = (amount: number): number => {
    let low = 0;
    let high = cheapest.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tokensUpTo[middle]! <= amount) low = middle;
      else high = middle - 1;
    }
    const last = cheapest[low];
    return workUpTo[low]! + (last === undefined ? 0 : (amount - tokensUpTo[low]!) * perToken[last]!);
  };
  let least = 0;
  let longestTokens = 0;
  let longestWork = 0;
  for (let g = 1; g <= Math.min(groups, byWork.length); g += 1) {
    longestTokens += lengths[byWork[g - 1]!]!;
    longestWork += work[byWork[g - 1]!]!;
    const heldBy = (used: number): number => {
      const rest = tokens - (groups - used) * roomPerGroup - longestTokens;
      const held = longestWork + (rest > 0 ? cheapestWorkOf(rest) : 0);
      return held / (used * top);
    };
    // The load that the groups must hold is convex in their number, so the share per group falls and then rises.
    let [low, high] = [1, g];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (heldBy(middle + 1) >= heldBy(middle)) high = middle;
      else low = middle + 1;
    }
    least = Math.max(least, heldBy(low));
  }
  return least;
}

/**
 * Returns a lower bound on the compute of the most loaded device of any plan within the memory limit.
 *
 * @param memoryCap - most tokens of a device
 */
export function computeBound(instance: Instance, memoryCap: number): number {
  if (instance.sequences === 0) return 0;
  const { work, byWork, devices } = instance;
  const mean = sum(work) / devices;
  const known = Math.max(mean, pigeonhole(instance, byWork), memoryComplement(instance, byWork, memoryCap));
  const top = topDegree(instance);
  return known === 0 ? 0 : leastRoom(work, devices / top, known * top) / top;
}

/**
 * Returns a lower bound on the communication of any plan within the limits: each sequence is counted at the cheapest degree at
 * which it fits alone.
 *
 * @param computeLimit - most compute of a device
 * @param memoryCap - most tokens of a device
 */
export function communicationBound(instance: Instance, computeLimit: number, memoryCap: number): number {
  const { work, lengths, splitCost, levels } = instance;
  let total = 0;
  for (let i = 0; i < instance.sequences; i += 1) {
    const fits = (degree: number): boolean => work[i]! / degree <= computeLimit && lengths[i]! / degree <= memoryCap;
    total += cheapestFrom(splitCost, i, lowestLevel(levels, fits));
  }
  return total;
}
