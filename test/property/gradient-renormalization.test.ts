/** The invariants of gradient-renormalization, by their numbers in its README, on a small network in float64. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gradientRenormalization, isPolicyError, runPlanner } from '../../src/index.ts';
import { runs } from '../support/basics/runs.ts';
import {
  combined,
  countsOf,
  type Group,
  gradient,
  parameterCount,
  relativeError,
  sumOfLosses,
  type Unit,
  unitsIn,
} from '../support/oracles/gradients.ts';

/** Replicas, of micro-batches, of groups. */
type Split = Group[][][];

const number = fc.integer({ min: -1000, max: 1000 }).map((value) => value / 500);
const token = fc.record({ x: fc.tuple(number, number, number), y: number });
const group = fc.array(fc.array(token, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const microBatch = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Group[]>([]) },
  { weight: 4, arbitrary: fc.array(group, { maxLength: 3 }) },
);
const split: fc.Arbitrary<Split> = fc
  .array(fc.array(microBatch, { maxLength: 4 }), { minLength: 1, maxLength: 6 })
  .filter((replicas) => replicas.flat(2).length > 0);
const parameters = fc.array(number, { minLength: parameterCount, maxLength: parameterCount });

const units = ['samples', 'tokens', 'groups', 'weights', 'constant'] as const;
const reductions = ['mean', 'sum'] as const;
const operations = ['sum', 'mean'] as const;
const combinations = units.flatMap((unit) =>
  reductions.flatMap((reduction) =>
    operations.flatMap((collective) =>
      operations.map((accumulation) => ({ unit, reduction, collective, accumulation })),
    ),
  ),
);
type Setting = (typeof combinations)[number];

const divisor = 7.5;
const divisorOf = (unit: Unit) => (unit === 'constant' ? { divisor } : {});

/** What the replicas compute over their own groups; each batch is computed once for all settings that it is the same in. */
class Replicas {
  readonly #known = new Map<string, number[]>();
  readonly parameters: readonly number[];

  constructor(parameters: readonly number[]) {
    this.parameters = parameters;
  }

  /** Gradient of a replica or micro-batch; a mean over nothing is 0. */
  gradient(groups: readonly Group[], { unit, reduction }: Setting, at: string): number[] {
    const key = `${unit} ${reduction} ${at}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const size = reduction === 'mean' ? Math.max(1, unitsIn(groups, unit)) : 1;
    const made = gradient(this.parameters, sumOfLosses(groups, unit, 1 / size));
    this.#known.set(key, made);
    return made;
  }

  /** Gradient of the whole batch; nothing where it cancels out, as there is nothing to compare with. */
  whole(replicas: Split, { unit }: Setting): number[] | undefined {
    const key = `${unit} whole`;
    let made = this.#known.get(key);
    if (made === undefined) {
      const all = replicas.flat(2);
      made = gradient(
        this.parameters,
        sumOfLosses(all, unit, 1 / (unit === 'constant' ? divisor : unitsIn(all, unit))),
      );
      this.#known.set(key, made);
    }
    return Math.max(...made.map(Math.abs)) < 1e-2 ? undefined : made;
  }
}

/** What a framework does over the micro-batches of a replica. */
function accumulate(gradients: readonly number[][], factors: readonly number[], { accumulation }: Setting): number[] {
  const by = accumulation === 'mean' ? Math.max(1, gradients.length) : 1;
  return combined(
    gradients,
    factors.map((one) => one / by),
  );
}

/** What the collective does. */
function reduce(gradients: readonly number[][], { collective }: Setting): number[] {
  return combined(
    gradients,
    gradients.map(() => (collective === 'mean' ? 1 / gradients.length : 1)),
  );
}

const inputOf = (replicas: Split, { unit, ...setting }: Setting, withMicroBatches: boolean) => ({
  ...setting,
  unit,
  ...divisorOf(unit),
  replicas: replicas.map((microBatches) => ({
    ...countsOf(microBatches.flat()),
    ...(withMicroBatches ? { microBatches: microBatches.map(countsOf) } : {}),
  })),
});

const tolerance = 1e-12;

describe('gradient-renormalization', () => {
  test('1. the combined gradient is that of the whole batch, each replica as one', () => {
    const compared = { yes: 0, no: 0 };
    fc.assert(
      fc.property(parameters, split, (at, replicas) => {
        const computed = new Replicas(at);
        for (const setting of combinations.filter((one) => one.accumulation === 'sum')) {
          const whole = computed.whole(replicas, setting);
          compared[whole === undefined ? 'no' : 'yes'] += 1;
          if (whole === undefined) continue;
          const { factors } = runPlanner(gradientRenormalization, inputOf(replicas, setting, false));
          const scaled = replicas.map((one, index) =>
            combined([computed.gradient(one.flat(), setting, `${index}`)], [factors[index]!]),
          );
          expect(relativeError(reduce(scaled, setting), whole), JSON.stringify(setting)).toBeLessThan(tolerance);
        }
      }),
      runs(1000),
    );
    expect(compared.yes).toBeGreaterThan(20 * compared.no);
  });

  test('2. the combined gradient is that of the whole batch, with a factor for each micro-batch', () => {
    const compared = { yes: 0, no: 0 };
    fc.assert(
      fc.property(parameters, split, (at, replicas) => {
        const computed = new Replicas(at);
        for (const setting of combinations) {
          const whole = computed.whole(replicas, setting);
          compared[whole === undefined ? 'no' : 'yes'] += 1;
          if (whole === undefined) continue;
          const { microBatchFactors } = runPlanner(gradientRenormalization, inputOf(replicas, setting, true));
          const scaled = replicas.map((microBatches, index) => {
            const gradients = microBatches.map((one, k) => computed.gradient(one, setting, `${index} ${k}`));
            return accumulate(gradients, microBatchFactors![index]!, setting);
          });
          expect(relativeError(reduce(scaled, setting), whole), JSON.stringify(setting)).toBeLessThan(tolerance);
        }
      }),
      runs(1000),
    );
    expect(compared.yes).toBeGreaterThan(20 * compared.no);
  });

  const few = runs(250);
  test('3. micro-batches that were added up already are repaired, or refused as infeasible where they cannot be', () => {
    const seen = { repaired: 0, refused: 0 };
    fc.assert(
      fc.property(parameters, split, fc.boolean(), (at, given, alike) => {
        // Half of the runs have micro-batches of one size, with empty ones among them.
        const [first] = given.flat(2);
        const replicas = alike ? given.map((one) => one.map((batch) => (batch.length === 0 ? [] : [first!]))) : given;
        const computed = new Replicas(at);
        for (const setting of combinations) {
          const sizes = replicas.map(
            (one) => new Set(one.map((batch) => unitsIn(batch, setting.unit)).filter((size) => size > 0)),
          );
          const lost = setting.reduction === 'mean' && sizes.some((one) => one.size > 1);
          const input = { ...inputOf(replicas, setting, true), accumulated: true };
          try {
            const { factors, microBatchFactors } = runPlanner(gradientRenormalization, input);
            expect([lost, microBatchFactors]).toEqual([false, undefined]);
            const scaled = replicas.map((microBatches, index) => {
              const gradients = microBatches.map((one, k) => computed.gradient(one, setting, `${index} ${k}`));
              return combined(
                [
                  accumulate(
                    gradients,
                    gradients.map(() => 1),
                    setting,
                  ),
                ],
                [factors[index]!],
              );
            });
            const whole = computed.whole(replicas, setting);
            if (whole !== undefined) expect(relativeError(reduce(scaled, setting), whole)).toBeLessThan(tolerance);
            seen.repaired += 1;
          } catch (error) {
            if (!isPolicyError(error)) throw error;
            const index = sizes.findIndex((one) => one.size > 1);
            expect([lost, error.code, error.path]).toEqual([true, 'infeasible', `replicas[${index}].microBatches`]);
            seen.refused += 1;
          }
        }
      }),
      few,
    );
    expect(Math.min(seen.repaired, seen.refused)).toBeGreaterThan(4 * few.numRuns);
  });

  test('4. factors are finite and >= 0, and the total is that of the whole batch', () => {
    fc.assert(
      fc.property(split, (replicas) => {
        for (const setting of combinations) {
          const { factors, microBatchFactors, total } = runPlanner(
            gradientRenormalization,
            inputOf(replicas, setting, true),
          );
          for (const one of [...factors, ...microBatchFactors!.flat()]) {
            expect(Number.isFinite(one) && one >= 0).toBe(true);
          }
          expect(total).toBe(setting.unit === 'constant' ? divisor : unitsIn(replicas.flat(2), setting.unit));
        }
      }),
      runs(100),
    );
  });
});
