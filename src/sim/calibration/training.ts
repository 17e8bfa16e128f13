/**
 * Fits the training time to two measured steps. Two factors are fitted: one scales all fixed costs (per step and per response), the
 * other all costs per token. The split into gradients, passes and swaps stays the same, since it is not measured.
 */
import { refuse } from '../../errors.ts';
import { type CostModel, swapSeconds, type TrainedBatch } from '../models/cost-model.ts';

/** A measured training step. */
export interface MeasuredTraining extends TrainedBatch {
  readonly trainSeconds: number;
}

const fixedSeconds = (cost: CostModel, { responses }: TrainedBatch): number =>
  cost.trainBaseSeconds + responses * cost.trainSecondsPerResponse + swapSeconds(cost);
const secondsPerToken = (cost: CostModel): number =>
  cost.trainSecondsPerToken + cost.referenceSecondsPerToken + cost.logProbSecondsPerToken;

/** Returns the simulated seconds of training, including passes. */
export const trainingSeconds = (cost: CostModel, batch: TrainedBatch): number =>
  fixedSeconds(cost, batch) + batch.tokens * secondsPerToken(cost);

/** Returns the training time as a linear function of the tokens in the batch. */
export function trainingOfStep(
  cost: CostModel,
  batch: TrainedBatch,
): { fixedSeconds: number; secondsPerToken: number } {
  return { fixedSeconds: fixedSeconds(cost, batch), secondsPerToken: secondsPerToken(cost) };
}

/** Adds, to a cost model without training, the two costs that every training has. */
const withShape = (cost: CostModel): CostModel => ({
  ...cost,
  trainBaseSeconds: fixedSeconds(cost, { responses: 1, tokens: 0 }) > 0 ? cost.trainBaseSeconds : 1,
  trainSecondsPerToken: secondsPerToken(cost) > 0 ? cost.trainSecondsPerToken : 1e-6,
});

/**
 * Returns a cost model with training costs for which both steps take as long as measured.
 *
 * @throws PolicyError `invalid_input` for steps with the same number of tokens; `infeasible` if more tokens took less time
 */
export function fitTraining(
  given: CostModel,
  [first, second]: readonly [MeasuredTraining, MeasuredTraining],
): Partial<CostModel> {
  const cost = withShape(given);
  const [f1, f2] = [fixedSeconds(cost, first), fixedSeconds(cost, second)];
  const perToken = secondsPerToken(cost);
  const [t1, t2] = [first.tokens * perToken, second.tokens * perToken];
  const determinant = f1 * t2 - f2 * t1;
  if (Math.abs(determinant) <= 1e-9 * Math.max(f1 * t2, f2 * t1)) {
    const expected = 'two steps with trainSeconds and different numbers of tokens';
    refuse('invalid_input', 'trainSeconds', expected, [first.tokens, second.tokens]);
  }
  const ofFixed = (first.trainSeconds * t2 - second.trainSeconds * t1) / determinant;
  const ofTokens = (f1 * second.trainSeconds - f2 * first.trainSeconds) / determinant;
  const slower = 'training that takes longer for more tokens, but not more than in proportion';
  for (const [path, value] of Object.entries({ trainBaseSeconds: ofFixed * f1, trainSecondsPerToken: ofTokens })) {
    if (value >= 0) continue;
    const got = [first, second].map((one) => `${one.trainSeconds} s for ${one.tokens} tokens`).join(', ');
    refuse('infeasible', `cost.${path}`, slower, got);
  }
  return {
    trainBaseSeconds: cost.trainBaseSeconds * ofFixed,
    trainSecondsPerResponse: cost.trainSecondsPerResponse * ofFixed,
    referenceSwapSeconds: cost.referenceSwapSeconds * ofFixed,
    trainSecondsPerToken: cost.trainSecondsPerToken * ofTokens,
    referenceSecondsPerToken: cost.referenceSecondsPerToken * ofTokens,
    logProbSecondsPerToken: cost.logProbSecondsPerToken * ofTokens,
  };
}
