/** What each part of the search of flex-ulysses finds when it is left alone: no less than it is known to find. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { instanceOf } from '../../../src/planners/flex-ulysses/instance.ts';
import { flexUlyssesInput } from '../../../src/planners/flex-ulysses/schema.ts';
import { Search } from '../../../src/planners/flex-ulysses/search/attempts.ts';
import { bestBalance, computeLimit } from '../../../src/planners/flex-ulysses/search/balance.ts';
import type { Effort } from '../../../src/planners/flex-ulysses/search/effort.ts';
import { type Problem, problemOf } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { startsFor } from '../../../src/planners/flex-ulysses/search/starts.ts';
import { familyLengths, type PlacementFamily } from '../../support/placement/families.ts';
import { tally } from '../../support/placement/problems.ts';

/** Few steps, so that what a part finds depends on how well it goes about it. */
const effort: Effort = {
  deviceSteps: 5000,
  groupSteps: 1500,
  coarseTimes: 4,
  polishSteps: 1500,
  exchanges: 20_000,
  shakes: 2,
  completion: 150_000,
  enumerated: 3000,
  alikeSteps: 15_000,
  starts: 3,
  prefixes: 8,
  polished: 3,
};

interface Batch {
  readonly family: PlacementFamily;
  readonly sequences: number;
  readonly devices: number;
  readonly maxDegree: number;
  readonly tolerance: number;
}
const batches = {
  'twelve videos and images': { family: 'video-heavy', sequences: 12, devices: 8, maxDegree: 4, tolerance: 0.02 },
  'two images a device': { family: 'image-heavy', sequences: 16, devices: 8, maxDegree: 4, tolerance: 0.02 },
  'two texts a device': { family: 'text', sequences: 30, devices: 16, maxDegree: 4, tolerance: 0.02 },
  'many texts a device': { family: 'text', sequences: 48, devices: 8, maxDegree: 4, tolerance: 0.002 },
  'three videos a device': { family: 'only-video', sequences: 24, devices: 8, maxDegree: 4, tolerance: 0.002 },
  'hardly any room': { family: 'image-heavy', sequences: 30, devices: 8, maxDegree: 8, tolerance: 0.002 },
  'responses with hardly any room': { family: 'grpo', sequences: 30, devices: 8, maxDegree: 8, tolerance: 0.002 },
  'groups of responses': { family: 'grpo', sequences: 40, devices: 16, maxDegree: 8, tolerance: 0.02 },
} as const satisfies Record<string, Batch>;

const settingsOf = ({ family, sequences, devices, maxDegree, tolerance }: Batch, seed: number) =>
  flexUlyssesInput.parse({
    lengths: familyLengths(family, seed, sequences),
    devices,
    maxDegree,
    balanceTolerance: tolerance,
  });

function searchOf(batch: Batch, seed: number, how = effort, lengths = settingsOf(batch, seed).lengths) {
  const instance = instanceOf({ ...settingsOf(batch, seed), lengths: [...lengths] });
  const balance = bestBalance(instance);
  const problem = problemOf(instance, computeLimit(balance, batch.tolerance), balance.memoryCap);
  const flat = Int32Array.from(problem.sequence, (i) => balance.group[i]!);
  return { search: new Search(problem, flat, how), problem };
}

const few = (at: number) => (search: Search, problem: Problem) =>
  search.start(startsFor({ ...problem, items: 2, devices: 2 }, 'default')[at]!, new Sequence(1));
/** Parts of the search. */
const parts = {
  prefixes: (search) => search.prefixes(new Sequence(1)),
  'groups from layers': few(0),
  'devices from items': few(1),
  'groups from items': few(3),
  'groups from flat': few(6),
  'devices from flat': few(10),
  completions: (search) => search.completions(new Sequence(2)),
  'the best again': (search) => search.polishBest(new Sequence(1)),
  'all of them': (search) => search.enumerate(),
} satisfies Record<string, (search: Search, problem: Problem) => void>;

/** What parts find of three batches each, from a plan that spreads everything, which costs as much as there are devices. */
const known: [keyof typeof batches, keyof typeof parts, number[]][] = [
  ['twelve videos and images', 'groups from layers', [7.5755, 8, 7.8453]],
  ['twelve videos and images', 'devices from items', [8, 7.7927, 7.8453]],
  ['twelve videos and images', 'all of them', [7.5755, 7.1878, 7.6505]],
  ['two images a device', 'prefixes', [4.2381, 3.1287, 7.0815]],
  ['two images a device', 'groups from layers', [4.2381, 3.1287, 6.9468]],
  ['two images a device', 'groups from flat', [4.2381, 3.1287, 7.0625]],
  ['two images a device', 'devices from flat', [4.2381, 3.1287, 7.0806]],
  ['two images a device', 'the best again', [6.6072, 6.8291, 6.8892]],
  ['two texts a device', 'groups from layers', [12.9806, 16, 16]],
  ['two texts a device', 'groups from flat', [15.5522, 15.6827, 13.9186]],
  ['two texts a device', 'devices from flat', [16, 16, 14.7295]],
  ['two texts a device', 'the best again', [15.1952, 15.5516, 13.2663]],
  ['many texts a device', 'prefixes', [1.1916, 0.8636, 0]],
  ['many texts a device', 'groups from layers', [3.1148, 4.3054, 0.0296]],
  ['many texts a device', 'groups from items', [3.47, 3.522, 1.6748]],
  ['many texts a device', 'devices from items', [2.8538, 8, 0]],
  ['many texts a device', 'devices from flat', [5.5122, 5.3145, 0]],
  ['three videos a device', 'prefixes', [8, 2.7223, 8.0001]],
  ['three videos a device', 'groups from flat', [8, 5.9974, 8.0001]],
  ['groups of responses', 'groups from layers', [12.7829, 11.0697, 3.8975]],
  ['groups of responses', 'groups from items', [12.1105, 11.108, 15.7225]],
  ['groups of responses', 'groups from flat', [14.3677, 11.2128, 15.2353]],
  ['hardly any room', 'completions', [6.2641, 7.2842, 7.2014]],
  ['responses with hardly any room', 'completions', [6.6001, 7.4112, 7.3804]],
];

test.each(known)('%s: %s', (name, part, costs) => {
  const found = costs.map((_, at) => {
    const { search, problem } = searchOf(batches[name], at + 1);
    const flat = search.best.cost;
    parts[part](search, problem);
    const { cost, fits } = tally(problem, search.best);
    expect(fits).toBe(true);
    expect(search.best.cost).toBeCloseTo(cost, 9);
    expect(cost).toBeLessThanOrEqual(flat);
    expect(cost).toBeGreaterThanOrEqual(problem.bound - 1e-9);
    expect(search.done).toBe(cost <= problem.bound + 1e-7);
    return cost;
  });
  for (const [at, cost] of found.entries()) expect(cost).toBeLessThanOrEqual(costs[at]! + 1e-4);
});

describe('an earlier plan', () => {
  const large: Batch = { family: 'only-video', sequences: 140, devices: 64, maxDegree: 8, tolerance: 0.02 };
  const changes = {
    'as it was': (lengths: readonly number[]) => [...lengths],
    'one sequence a little shorter': (lengths: readonly number[]) => lengths.with(3, Math.ceil(0.98 * lengths[3]!)),
    'a tenth a little longer': (lengths: readonly number[]) =>
      lengths.map((one, at) => (at % 10 === 3 ? one + 300 : one)),
    'twice as long at one end': (lengths: readonly number[]) => lengths.with(0, 2 * lengths[0]!),
    'quite another batch': (lengths: readonly number[]) => lengths.map((_, at) => lengths.at(at - 5)! + (at % 7) * 900),
  };
  test.each<[keyof typeof batches | 'large', keyof typeof changes, boolean, number]>([
    ['two images a device', 'as it was', true, 4.2381],
    ['two images a device', 'one sequence a little shorter', true, 4.2418],
    ['two images a device', 'quite another batch', false, 8],
    ['twelve videos and images', 'twice as long at one end', true, 7.49],
    ['two texts a device', 'as it was', true, 11.086],
    ['groups of responses', 'a tenth a little longer', true, 12.0949],
    ['large', 'as it was', true, 28.0424],
    ['large', 'a tenth a little longer', true, 27.8877],
    ['large', 'quite another batch', true, 26.9019],
  ])('of %s, %s', (name, change, kept, most) => {
    const batch = name === 'large' ? large : batches[name];
    const settings = settingsOf(batch, 1);
    const previous = runPlanner(flexUlysses, { ...settings, effort: 'fast' });
    const { search, problem } = searchOf(batch, 1, effort, changes[change](settings.lengths));
    const flat = search.best.cost;
    const isKept = search.fromPrevious(previous, new Sequence(1));
    const { cost, fits } = tally(problem, search.best);
    expect(fits).toBe(true);
    expect(isKept).toBe(kept);
    expect(search.best.cost).toBeCloseTo(cost, 9);
    expect(cost).toBeLessThanOrEqual(Math.min(flat, most) + 1e-4);
    expect(cost).toBeGreaterThanOrEqual(problem.bound - 1e-9);
  });
});
