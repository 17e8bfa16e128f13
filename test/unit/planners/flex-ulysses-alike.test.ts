/** flex-ulysses on nearly equal lengths: few sequences a device, none short enough to fill a gap. */
import { describe, expect, test } from 'vitest';
import { type AlikeCell, alikeInput } from '../../../bench/flex-ulysses/alike-batches.ts';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { fewestSharded, leastRoom } from '../../../src/planners/flex-ulysses/counting.ts';
import { type Shape, shapesFor } from '../../../src/planners/flex-ulysses/search/alike.ts';
import { annealDevices } from '../../../src/planners/flex-ulysses/search/anneal-devices.ts';
import { constructAlike, flatten } from '../../../src/planners/flex-ulysses/search/construct-alike.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import { layGroups } from '../../../src/planners/flex-ulysses/search/lower.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { range } from '../../support/basics/numbers.ts';
import { placementProblems } from '../../support/placement/check.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

const cell = (each: number, devices: number, spread: number, maxDegree: number): AlikeCell => ({
  each,
  devices,
  spread,
  maxDegree,
});

describe('plans', () => {
  // What an annealing from scratch found of these was 2.9 to 15 times the bound.
  test.each([
    cell(1.5, 32, 0.05, 16),
    cell(1.5, 512, 0.1, 4),
    cell(1.8, 256, 0.1, 16),
    cell(2.3, 32, 0.2, 16),
    cell(2.5, 512, 0.01, 16),
    cell(3.2, 64, 0.02, 4),
    cell(3.2, 128, 0.1, 16),
    cell(5.5, 512, 0.05, 16),
  ])('of %j communicate no more than 1.10 × the bound', (one) => {
    const input = alikeInput(one, 1);
    const plan = runPlanner(flexUlysses, input);
    expect(placementProblems(input, plan)).toEqual([]);
    expect(plan.metrics.communication).toBeLessThanOrEqual(1.1 * plan.bounds.communication);
    expect(plan.metrics.maxCompute).toBeLessThanOrEqual(1.01 * 1.0004 * plan.bounds.compute);
  });

  test('share nothing where whole sequences can be even', () => {
    for (const one of [cell(2, 256, 0.05, 8), cell(4, 64, 0.2, 16), cell(8, 32, 0.1, 4)])
      expect(runPlanner(flexUlysses, alikeInput(one, 2)).metrics.sharded).toBe(0);
  });

  test('are the same again', () => {
    const input = { ...alikeInput(cell(1.8, 32, 0.2, 8), 3), effort: 'fast' as const };
    expect(JSON.stringify(runPlanner(flexUlysses, input))).toBe(JSON.stringify(runPlanner(flexUlysses, input)));
  });

  test('from an earlier plan keep the limits', () => {
    const input = alikeInput(cell(2.5, 32, 0.05, 8), 1);
    const previous = runPlanner(flexUlysses, input);
    const lengths = input.lengths.map((one, at) => (at % 20 === 0 ? one + 100 : one));
    const plan = runPlanner(flexUlysses, { ...input, lengths, previous });
    expect(placementProblems({ ...input, lengths }, plan)).toEqual([]);
    expect(plan.metrics.communication).toBeLessThanOrEqual(1.1 * plan.bounds.communication);
  });
});

describe('counting', () => {
  const sizes = (...values: number[]): Float64Array => Float64Array.from(values);
  const counted = (devices: number, work: Float64Array, ...splitCost: Float64Array[]) => ({
    devices,
    work,
    lengths: work.map(() => 1),
    splitCost: [work.map(() => 0), ...splitCost],
  });

  test('of three on two devices that have room for one and a half, one is shared', () => {
    const { communication, above } = fewestSharded(counted(2, sizes(1, 1, 1), sizes(5, 4, 6)), 1.5, 10);
    expect(above).toEqual([1, 0]);
    expect(communication).toBe(4);
  });

  test('some devices have one more of the short ones', () => {
    const above = (room: number, cap: number): number | undefined =>
      fewestSharded(counted(4, sizes(8, 8, 8, 5, 5, 4), sizes(1, 1, 1, 1, 1, 1)), room, cap).above[0];
    // Two devices with two have 22 at least, one has 9.
    expect(above(11, 10)).toBe(0);
    expect(above(10.9, 10)).toBe(1);
    expect(above(9, 10)).toBe(1);
    expect(above(8.9, 10)).toBe(2);
    expect(above(11, 1)).toBe(2);
  });

  test('what does not fit into groups of a degree costs what it does above it', () => {
    // Five on four devices in pairs: two a pair, and one over all of them.
    const work = sizes(1, 1, 1, 1, 1);
    const two = counted(4, work, sizes(2, 2, 2, 2, 2), sizes(9, 8, 9, 9, 9));
    const { communication, above } = fewestSharded(two, 1.25, 10);
    expect(above).toEqual([1, 1, 0]);
    expect(communication).toBe(8);
  });

  test('the least room of bins', () => {
    expect(leastRoom(sizes(1, 1, 1, 1, 1), 2, 2.5)).toBeCloseTo(3, 9);
    // One of two bins has three, at best the shortest.
    expect(leastRoom(sizes(1.2, 1.1, 1, 1, 0.9), 2, 2.6)).toBeCloseTo(2.9, 9);
    expect(leastRoom(sizes(1, 1, 1, 1), 2, 2)).toBe(2);
    expect(leastRoom(new Float64Array(1000).fill(1), 3, 333)).toBe(333);
  });
});

/** Items that are nearly the same, at the costs of the paper. */
function alikeProblem(seed: number, items: number, devices: number, top: number): Problem {
  const problem = drawProblem({ items, devices, top, work: 0.98, memory: 0.9, ratio: 1.3, seed });
  const cost = problem.cost.map((_, level) =>
    Float64Array.from({ length: items }, () => (2 ** level - 1) / 4 ** level),
  );
  return { ...problem, memory: problem.work.map((one) => 0.95 * one), cost };
}

describe('starts', () => {
  const sizes = [
    [12, 8, 4],
    [29, 16, 8],
    [40, 16, 4],
    [37, 24, 8],
    [9, 16, 8],
    [64, 8, 2],
  ] as const;
  const shapesOf = (problem: Problem): Shape[] => {
    const { cost, work, memory, devices } = problem;
    return shapesFor(problem, fewestSharded({ splitCost: cost, work, lengths: memory, devices }, 1, 1).above);
  };

  test.each(sizes)('of %d items on %d devices, up to degree %d, put each item once', (items, devices, top) => {
    for (const seed of range(6)) {
      const problem = alikeProblem(seed, items, devices, top);
      const layout = new Layout(problem);
      for (const shape of shapesOf(problem)) {
        if (!constructAlike(layout, shape)) continue;
        for (const step of [() => {}, () => flatten(layout, shape.level)]) {
          step();
          const { work, cost } = tally(problem, layout);
          expect(layout.group.every((group, item) => group >= 0 && group < devices >> layout.level[item]!)).toBe(true);
          expect(rounded(layout.work)).toEqual(rounded(work));
          expect(layout.cost).toBeCloseTo(cost, 7);
        }
      }
    }
  });

  test('groups that hold what they have are laid out within the limits', () => {
    for (const seed of range(10)) {
      const problem = alikeProblem(seed, 26, 16, 8);
      const layout = new Layout({ ...problem, work: problem.work.map((one) => 0.95 * one) });
      for (const item of range(26)) layout.put(item, 3, item % 2);
      const flat = layout.cost;
      expect(layout.fits()).toBe(true);
      layGroups(layout, 3);
      expect(layout.fits()).toBe(true);
      expect(layout.cost).toBeLessThan(flat);
    }
  });

  test('as many wide groups, and as few shared items, as counting says', () => {
    const work = Float64Array.from([...new Array<number>(12).fill(0.7), ...new Array<number>(8).fill(0.5)]);
    const problem = { ...alikeProblem(1, 20, 16, 4), work, memory: work };
    const [first] = shapesOf(problem);
    expect(first).toMatchObject({ level: 2, each: 1, wide: 1, higher: [] });
    const layout = new Layout(problem);
    expect(constructAlike(layout, first!)).toBe(true);
    expect(layout.fits()).toBe(true);
    expect(layout.level.filter((level) => level > 0)).toHaveLength(0);
  });
});

test('annealing that moves layers keeps count of where everything is', () => {
  for (const seed of range(8)) {
    const problem = alikeProblem(seed, 30, 16, 8);
    const layout = new Layout(problem);
    for (const item of range(30)) layout.put(item, 3, item % 2);
    const schedule = { steps: 6000, temperature: [0.3, 0.01], price: [30, 3000], layers: 128, usual: 3 } as const;
    const found = annealDevices(layout, schedule, new Sequence(seed));
    const { work, memory, cost } = tally(problem, layout);
    expect(rounded(layout.work)).toEqual(rounded(work));
    expect(rounded(layout.memory)).toEqual(rounded(memory));
    expect(layout.cost).toBeCloseTo(cost, 7);
    if (found === undefined) continue;
    expect(tally(problem, found).fits).toBe(true);
    expect(found.cost).toBeCloseTo(tally(problem, found).cost, 7);
  }
});
