/** The cost model of a sequence at a degree: written in JSON, so that a remote caller can give the same model. */
import { z } from 'zod';
import { type LengthFunction, lengthFunction, valueAt } from '../../core/lengths/length-function.ts';
import { refuse } from '../../errors.ts';
import type { CostModel } from '../../generated/settings/flex-ulysses.ts';
import { positiveCount } from '../../schemas/units.ts';
import { timingModel } from './execution/timing.ts';

const byDegree = z
  .array(
    z.strictObject({
      degree: positiveCount.min(2).describe('Sharding degree.'),
      cost: lengthFunction.describe('What sharding costs at this degree, by sequence length.'),
    }),
  )
  .min(1)
  .max(32);

export const costModel = z
  .strictObject({
    compute: lengthFunction
      .default({ perTokenSquared: 1 })
      .describe('Work of a whole sequence, by its length, in any unit; at degree p each device has 1/p of it.'),
    crossNodeFactor: z
      .number()
      .min(0)
      .max(1e6)
      .default(16)
      .describe('What an all-to-all between nodes costs, relative to one inside a node (γ in the paper).'),
    communication: byDegree
      .optional()
      .describe('Cost of sharding by degree, for every degree from 2; stands in place of length · (p − 1) ÷ p².'),
    timing: timingModel
      .default('H800')
      .describe('Seconds of attention and all-to-alls, for `schedule` only: coefficients, or a cluster of the paper.'),
    workload: lengthFunction
      .default({ perToken: 24_576, perTokenSquared: 1 })
      .describe(
        'What `bucketing` and `karmarkar-karp` balance; as in verl if absent. Metrics are in `compute` always.',
      ),
  })
  .describe('What a sequence costs at a sharding degree.');

/** Returns the traffic of one device when a sequence is sharded, per token of the sequence (FlexRL, Appendix A). */
const splitShare = (degree: number): number => (degree - 1) / (degree * degree);

const valuesOf = (lengths: readonly number[], model: LengthFunction, path: string): Float64Array =>
  Float64Array.from(lengths, (length) => (length === 0 ? 0 : valueAt(model, length, path)));

/**
 * Returns the work of each sequence on one device that holds it whole.
 *
 * @throws PolicyError `infeasible` for a length beyond the last point of a table
 */
export const workOf = (lengths: readonly number[], { compute }: CostModel): Float64Array =>
  valuesOf(lengths, compute, 'costs.compute');

/**
 * Returns the work of each sequence in the measure of the baselines without sharding.
 *
 * @throws PolicyError `infeasible` for a length beyond the last point of a table
 */
export const baselineWorkOf = (lengths: readonly number[], { workload }: CostModel): Float64Array =>
  valuesOf(lengths, workload, 'costs.workload');

/**
 * Returns the cost of sharding each sequence at a degree; 0 for an empty one.
 *
 * @param crossesNodes - whether a group of that degree spans nodes
 * @throws PolicyError `invalid_input` if a table lacks the degree, `infeasible` for a length beyond its last point
 */
export function splitCosts(
  lengths: readonly number[],
  degree: number,
  crossesNodes: boolean,
  { communication, crossNodeFactor }: CostModel,
): Float64Array {
  if (degree === 1) return new Float64Array(lengths.length);
  if (communication === undefined) {
    const share = splitShare(degree) * (crossesNodes ? crossNodeFactor : 1);
    return Float64Array.from(lengths, (length) => length * share);
  }
  const index = communication.findIndex((row) => row.degree === degree);
  if (index < 0) {
    const got = communication.map((row) => row.degree);
    refuse('invalid_input', 'costs.communication', `a cost for degree ${degree}`, got);
  }
  return valuesOf(lengths, communication[index]!.cost, `costs.communication[${index}].cost`);
}
