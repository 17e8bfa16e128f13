/**
 * Computes factors that make the gradients of replicas with uneven shares add up to the gradient of the whole batch (RollPacker
 * §4.4). See README.md.
 */
import { definePlanner, type PlannerDefinition } from '../../core/machine/definition.ts';
import { scaleFactor } from '../../core/numeric/renormalize.ts';
import { refuse } from '../../errors.ts';
import type {
  GradientRenormalizationInput,
  GradientRenormalizationPlan,
  GradientRenormalizationSettings,
} from '../../generated/settings/gradient-renormalization.ts';
import { type CountName, countIn, renormalizationInput, renormalizationPlan } from './schema.ts';

type Replica = GradientRenormalizationSettings['replicas'][number];
type Counts = Omit<Replica, 'microBatches'>;

function compute(input: GradientRenormalizationSettings): GradientRenormalizationPlan {
  const { replicas, unit, reduction, collective, accumulation, accumulated } = input;
  const name: CountName = unit === 'constant' ? 'samples' : unit;
  // The schema ensures that the unit is counted in every replica with samples.
  const unitsOf = (counts: Counts): number => countIn(counts, name)!;
  const total = input.divisor ?? replicas.reduce((sum, one) => sum + unitsOf(one), 0);
  if (total === 0) {
    refuse(
      'infeasible',
      'replicas',
      `at least one of the ${name} on some replica (without any there is no gradient: skip the step)`,
      total,
    );
  }
  const factorOf = (units: number): number =>
    scaleFactor({ units, total, replicas: replicas.length, reduction, collective });
  // A framework that takes the mean over micro-batches has divided by their number, including the empty ones.
  const accumulatedOver = (microBatches: readonly Counts[]): number =>
    accumulation === 'mean' ? Math.max(1, microBatches.length) : 1;

  const factors = replicas.map((replica, index) => {
    const { microBatches } = replica;
    if (!accumulated || microBatches === undefined) return factorOf(unitsOf(replica));
    const sizes = microBatches.map(unitsOf).filter((size) => size > 0);
    if (reduction === 'mean' && sizes.some((size) => size !== sizes[0])) {
      refuse(
        'infeasible',
        `replicas[${index}].microBatches`,
        `micro-batches of one size: means over unequal numbers of ${name} were added up and cannot be told apart`,
        sizes,
      );
    }
    return factorOf(sizes[0] ?? 0) * accumulatedOver(microBatches);
  });
  if (accumulated || replicas.every((one) => one.microBatches === undefined)) return { factors, total };
  const microBatchFactors = replicas.map((replica) => {
    const microBatches = replica.microBatches ?? [replica];
    return microBatches.map((one) => factorOf(unitsOf(one)) * accumulatedOver(microBatches));
  });
  return { factors, microBatchFactors, total };
}

/** Computes factors with which the gradients of uneven replicas and micro-batches add up to that of the whole batch. */
export const gradientRenormalization: PlannerDefinition<
  GradientRenormalizationInput,
  GradientRenormalizationSettings,
  GradientRenormalizationPlan,
  'gradient-renormalization'
> = definePlanner({
  id: 'gradient-renormalization',
  version: 1,
  summary: 'Factors that make gradients of uneven replicas and micro-batches equal to that of the whole batch.',
  source: 'RollPacker §4.4',
  input: renormalizationInput,
  plan: renormalizationPlan,
  compute,
});
