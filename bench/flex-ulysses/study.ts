/** What bench/flex-ulysses/plans.ts measures: the quality of plans, what they take to make, and to make again. */
import { flexUlysses, runPlanner } from '../../src/index.ts';
import { fewestSharded } from '../../src/planners/flex-ulysses/counting.ts';
import type { FlexUlyssesInput, FlexUlyssesPlan } from '../../src/planners/flex-ulysses/index.ts';
import { instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { metricsOf } from '../../src/planners/flex-ulysses/placement.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { placeBySearch } from '../../src/planners/flex-ulysses/search/search.ts';
import { pickIndex } from '../../src/sim/workload/random.ts';
import { familyLengths, type PlacementFamily } from '../../test/support/placement/families.ts';
import { communicationRatio, inputOf, type KnownInstance } from '../../test/support/placement/instances.ts';
import { mean, median } from '../support.ts';

/** How a batch is placed. */
export type Way = Pick<FlexUlyssesInput, 'strategy' | 'effort' | 'balanceTolerance' | 'costs' | 'previous'>;

/** The search at two efforts, and what it is compared with. */
export const ways: Readonly<Record<string, Way>> = {
  default: { effort: 'default' },
  fast: { effort: 'fast' },
  paper: { strategy: 'paper' },
  bucketing: { strategy: 'bucketing' },
  'karmarkar-karp': { strategy: 'karmarkar-karp' },
  ulysses: { strategy: 'ulysses' },
};

/** Some batches of one family. */
export interface Batches {
  readonly family: PlacementFamily;
  readonly sequences: number;
  readonly devices: number;
  readonly seeds: readonly number[];
}

/** Inputs of batches. */
export function inputsOf({ family, sequences, devices, seeds }: Batches): FlexUlyssesInput[] {
  return seeds.map((seed) => ({ lengths: familyLengths(family, seed, sequences), devices }));
}

/** A plan, and the milliseconds of processor time that it took: of one core, as nothing here has threads. */
export function timed(input: FlexUlyssesInput): { readonly plan: FlexUlyssesPlan; readonly milliseconds: number } {
  const start = process.cpuUsage();
  const plan = runPlanner(flexUlysses, input);
  const { user, system } = process.cpuUsage(start);
  return { plan, milliseconds: (user + system) / 1000 };
}

/** What the search alone finds, the limit on compute, the steps that it took, and the milliseconds of processor time. */
export function searched(input: FlexUlyssesInput) {
  const settings = flexUlyssesInput.parse(input);
  const start = process.cpuUsage();
  const instance = instanceOf(settings);
  const placed = placeBySearch(instance, settings);
  const { user, system } = process.cpuUsage(start);
  const metrics = metricsOf(instance, placed.placement);
  const limit = placed.computeLimit!;
  const { communication } = fewestSharded(instance, limit, placed.memoryCap!);
  const plan = { metrics, bounds: { compute: placed.computeBound!, communication } };
  return { plan, limit, steps: placed.steps!, milliseconds: (user + system) / 1000 };
}

/** What all but the given part of values are at most. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!;
}

/** How good the plans of one way are. */
export interface Quality {
  readonly way: string;
  /** Most compute of a device ÷ the bound within the memory limit, mean. */
  readonly balance: number;
  /** Plans that take more memory than the limit. */
  readonly overMemory: number;
  /** Communication and its bound ÷ tokens, means; the bound is that for what the plan itself was held to. */
  readonly communication: number;
  readonly bound: number;
  readonly milliseconds: number;
}

/**
 * Every way on the same inputs. The bound of compute, and the memory limit where the one asked for is infeasible, are
 * those of the default search, the same for all ways.
 */
export function qualities(inputs: readonly FlexUlyssesInput[], of: Readonly<Record<string, Way>> = ways): Quality[] {
  const limits = inputs.map((input) => {
    const { bounds, limits: heldTo } = runPlanner(flexUlysses, input);
    const tokens = input.lengths.reduce((sum, one) => sum + one, 0);
    return { compute: bounds.compute, memory: heldTo.memoryTokens * (1 + 1e-9), tokens };
  });
  return Object.entries(of).map(([way, options]) => {
    const runs = inputs.map((input) => timed({ ...input, ...options }));
    const share = (of: (plan: FlexUlyssesPlan) => number): number =>
      mean(runs.map(({ plan }, at) => of(plan) / limits[at]!.tokens));
    return {
      way,
      balance: mean(runs.map(({ plan }, at) => plan.metrics.maxCompute / limits[at]!.compute)),
      overMemory: runs.filter(({ plan }, at) => plan.metrics.maxMemoryTokens > limits[at]!.memory).length,
      communication: share((plan) => plan.metrics.communication),
      bound: share((plan) => plan.bounds.communication),
      milliseconds: median(runs.map((run) => run.milliseconds)),
    };
  });
}

/** A known batch at a tolerance: compute ÷ what is allowed, and communication ÷ the best known. */
export function besideKnown(known: KnownInstance, balanceTolerance: number, effort: FlexUlyssesInput['effort']) {
  const { plan, milliseconds } = timed({ ...inputOf(known), balanceTolerance, effort });
  const { maxCompute, communication } = plan.metrics;
  return {
    compute: maxCompute / ((1 + balanceTolerance) * known.bestCompute),
    communication: communicationRatio(known, balanceTolerance, communication),
    milliseconds,
  };
}

/** Times of planning each input, and communication relative to that of another effort. */
export function efforts(inputs: readonly FlexUlyssesInput[]) {
  const [slow, fast] = (['default', 'fast'] as const).map((effort) =>
    inputs.map((input) => timed({ ...input, effort })),
  );
  return {
    default: slow!.map((run) => run.milliseconds),
    fast: fast!.map((run) => run.milliseconds),
    fastCommunication: fast!.map(({ plan }, at) =>
      ratio(plan.metrics.communication, slow![at]!.plan.metrics.communication),
    ),
  };
}

/** One of two amounts relative to the other; 1 where both are 0. */
const ratio = (one: number, other: number): number => (one === other ? 1 : one / other);

/** The batch with some of its lengths replaced by those of another batch of its family. */
export function changed({ family, sequences, devices, seeds }: Batches, count: number): FlexUlyssesInput[] {
  return seeds.map((seed) => {
    const lengths = familyLengths(family, seed, sequences);
    const others = familyLengths(family, seed + 1_000_000, sequences);
    const places = new Set<number>();
    for (let draw = 0; places.size < Math.min(count, sequences); draw += 1)
      places.add(pickIndex(sequences, seed, draw));
    for (const place of places) lengths[place] = others[place]!;
    return { lengths, devices };
  });
}

/** Planning batches again after so many lengths changed, relative to planning from scratch. */
export function replanning(batches: Batches, count: number, effort: FlexUlyssesInput['effort'] = 'default') {
  const before = inputsOf(batches).map((input) => runPlanner(flexUlysses, { ...input, effort }));
  return changed(batches, count).map((input, at) => {
    const scratch = timed({ ...input, effort });
    const again = timed({ ...input, effort, previous: before[at]! });
    const moved = again.plan.assignments.filter(
      ({ degree, devices }, sequence) =>
        degree !== before[at]!.assignments[sequence]!.degree ||
        devices[0] !== before[at]!.assignments[sequence]!.devices[0],
    );
    return {
      time: again.milliseconds / scratch.milliseconds,
      compute: again.plan.metrics.maxCompute / scratch.plan.metrics.maxCompute,
      communication: ratio(again.plan.metrics.communication, scratch.plan.metrics.communication),
      moved: moved.length,
    };
  });
}
