/**
 * Factors that make the gradients of replicas with uneven shares add up to the gradient of the whole batch
 * (RollPacker §4.4). See README.md.
 */
import { definePlanner } from '../../core/definition.ts';
import { PolicyError } from '../../errors.ts';
import {
  type CountName,
  type RenormalizationPlan,
  type RenormalizationSettings,
  renormalizationInput,
  renormalizationPlan,
} from './schema.ts';

type Replica = RenormalizationSettings['replicas'][number];
type Counts = Omit<Replica, 'microBatches'>;

function compute(input: RenormalizationSettings): RenormalizationPlan {
  const { replicas, unit, reduction, collective, accumulation, accumulated } = input;
  const name: CountName = unit === 'constant' ? 'samples' : unit;
  const unitsOf = (counts: Counts): number => counts[name]!;
  const total = input.divisor ?? replicas.reduce((sum, one) => sum + unitsOf(one), 0);
  if (total === 0) {
    throw new PolicyError('infeasible', {
      expected: `at least one of the ${name} on some replica (without any there is no gradient: skip the step)`,
      got: total,
      path: 'replicas',
    });
  }
  const scale = collective === 'mean' ? replicas.length : 1;
  // What a local gradient was divided by; multiplied by it, the gradient is a sum again.
  const dividedBy = (counts: Counts): number => (reduction === 'mean' ? unitsOf(counts) : 1);
  const accumulationDivisor = (microBatches: readonly Counts[]): number =>
    accumulation === 'mean' ? Math.max(1, microBatches.length) : 1;

  const factorOf = (replica: Replica, index: number): number => {
    const { microBatches } = replica;
    if (!accumulated || microBatches === undefined) return (scale * dividedBy(replica)) / total;
    const filled = microBatches.filter((one) => unitsOf(one) > 0);
    if (reduction === 'mean' && filled.some((one) => unitsOf(one) !== unitsOf(filled[0]!))) {
      throw new PolicyError('infeasible', {
        expected: `micro-batches of one size: means over unequal numbers of ${name} were added up and cannot be told apart`,
        got: filled.map(unitsOf),
        path: `replicas[${index}].microBatches`,
      });
    }
    const each = filled[0] === undefined ? dividedBy(replica) : dividedBy(filled[0]);
    return (scale * each * accumulationDivisor(microBatches)) / total;
  };

  const factors = replicas.map(factorOf);
  if (accumulated || replicas.every((one) => one.microBatches === undefined)) return { factors, total };
  const microBatchFactors = replicas.map((replica) => {
    const microBatches = replica.microBatches ?? [replica];
    const times = scale * accumulationDivisor(microBatches);
    return microBatches.map((one) => (times * dividedBy(one)) / total);
  });
  return { factors, microBatchFactors, total };
}

/** The planner; `renormalizeGradients` is its plain function. */
export const gradientRenormalizationPlanner = definePlanner({
  id: 'gradient-renormalization',
  version: 1,
  summary: 'Factors that make gradients of uneven replicas and micro-batches equal to that of the whole batch.',
  source: 'RollPacker §4.4',
  input: renormalizationInput,
  plan: renormalizationPlan,
  compute,
});
