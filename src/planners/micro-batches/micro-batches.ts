/**
 * Micro-batches under a token cap, the same number on every rank, with even work. See README.md.
 */
import { definePlanner } from '../../core/definition.ts';
import { valueAt } from '../../core/length-function.ts';
import { PolicyError } from '../../errors.ts';
import { balance } from './balance.ts';
import { allowedCount, leastCount, pack } from './count.ts';
import { deal } from './deal.ts';
import { leastBins } from './least.ts';
import { type Item, partsOf } from './parts.ts';
import { metricsOf, microBatchesOf } from './plan.ts';
import { type MicroBatchesPlan, microBatchesPlan } from './plan-schema.ts';
import { type MicroBatchesSettings, microBatchesInput } from './schema.ts';

/** What a rank, or several, have of a sequence. */
function itemOf(
  settings: MicroBatchesSettings,
  sequence: number,
  length: number,
  path: string,
  [first, width]: readonly [number, number],
): Item {
  const cap = settings.maxTokensPerMicroBatch;
  const tokens = length / width;
  if (tokens > cap && settings.overlong === 'refuse') {
    const expected = `a sequence of at most ${cap * width} tokens (or overlong: alone)`;
    throw new PolicyError('infeasible', { expected, got: length, path });
  }
  const work = (length === 0 ? 0 : valueAt(settings.compute, length, 'compute')) / width;
  return { sequence, first, width, length, tokens: Math.min(tokens, cap), work, overCap: tokens > cap };
}

/** A plan for sequences that have their ranks. */
function planFor(
  items: readonly Item[],
  ranks: number,
  settings: MicroBatchesSettings,
  bound?: number,
): MicroBatchesPlan {
  const cap = settings.maxTokensPerMicroBatch;
  const parts = partsOf(ranks, items);
  const { count, slots } = pack(parts, settings);
  const balanced = slots.map((packed, index) => balance(parts[index]!, packed, count, cap));
  const made = microBatchesOf(parts, balanced, count, ranks);
  const least = bound ?? leastCount(parts, cap);
  return { count, ranks: made, bounds: { count: allowedCount(least, settings) }, metrics: metricsOf(made, count) };
}

/** The whole batch, dealt out by work and by tokens: fewest micro-batches, then least work in lockstep. */
function dealt(lengths: readonly number[], ranks: number, settings: MicroBatchesSettings): MicroBatchesPlan {
  const all = lengths.map((length, index) => itemOf(settings, index, length, `lengths[${index}]`, [0, 1]));
  const sizes = all.map((item) => item.tokens);
  const bound = Math.ceil(leastBins(sizes, settings.maxTokensPerMicroBatch) / ranks);
  const plans = [all.map((item) => item.work), sizes].map((loads) => {
    const items = deal(Float64Array.from(loads), ranks).flatMap((part, first) =>
      part.map((index) => ({ ...all[index]!, first })),
    );
    return planFor(items, ranks, settings, bound);
  });
  const [byWork, byTokens] = [plans[0]!, plans[1]!];
  const fewer = byTokens.count - byWork.count || byTokens.metrics.lockstepWork - byWork.metrics.lockstepWork;
  return fewer < 0 ? byTokens : byWork;
}

function compute(settings: MicroBatchesSettings): MicroBatchesPlan {
  // The schema has seen to it that there are either lengths by rank, or lengths and ranks.
  const { lengthsByRank, lengths = [], ranks = 1, assignments } = settings;
  if (lengthsByRank !== undefined) {
    const items = lengthsByRank.flatMap((own, rank) =>
      own.map((length, index) => itemOf(settings, index, length, `lengthsByRank[${rank}][${index}]`, [rank, 1])),
    );
    return planFor(items, lengthsByRank.length, settings);
  }
  if (assignments === undefined) return dealt(lengths, ranks, settings);
  const items = assignments.map(({ sequence, degree, devices }) =>
    itemOf(settings, sequence, lengths[sequence]!, `lengths[${sequence}]`, [devices[0]!, degree]),
  );
  return planFor(items, ranks, settings);
}

/** The planner; `planMicroBatches` is its plain function. */
export const microBatchesPlanner = definePlanner({
  id: 'micro-batches',
  version: 1,
  summary: 'Micro-batches under a token cap, the same number on every rank, with even work.',
  source: 'verl, slime',
  input: microBatchesInput,
  plan: microBatchesPlan,
  compute,
});
