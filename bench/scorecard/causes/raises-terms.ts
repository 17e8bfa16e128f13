/** What may be another way in RollPacker's Figure 13a than in the simulator: terms of engines and lengths, and of the policy. */
import type { AdaptiveTpInput } from '../../../src/generated/settings/adaptive-tp.ts';
import type { CostModel } from '../../../src/sim/models/cost-model.ts';
import type { Growth } from '../growing.ts';

/** Share of the memory that engines have where a term does not say another: that of the presets. */
export const before = 0.8;
const prefill =
  (by: number) =>
  (cost: CostModel): CostModel => {
    const { prefillSecondsPerToken, prefillSecondsPerSquaredToken: squared } = cost;
    return {
      ...cost,
      prefillSecondsPerToken: by * prefillSecondsPerToken,
      prefillSecondsPerSquaredToken: by * squared,
    };
  };
/** What adaptive TP cost before the model of engines was fitted to measured ones. */
const allReduce = (cost: CostModel): CostModel => ({
  ...cost,
  overheadSeconds: cost.overheadSeconds + 48 * 75e-6 * Math.log2(cost.gpus),
});

/** Terms of engines and lengths. */
export const engineTerms: readonly (readonly [string, Partial<Growth>])[] = [
  ['lengths even from 0 to the cap', { spread: 'even' }],
  ['lengths lognormal', { spread: 'lognormal' }],
  ['lengths of Figure 2', { spread: 'long-tailed' }],
  ['0.7 of the memory for engines', { memoryShare: 0.7 }],
  ['0.6 of the memory for engines', { memoryShare: 0.6 }],
  ['0.5 of the memory for engines', { memoryShare: 0.5 }],
  ['512 responses a step', { responsesPerPrompt: 4 }],
  ['128 responses a step', { responsesPerPrompt: 1 }],
  ['preempted responses come back at no cost (swapped)', { cost: prefill(0) }],
  ['prefills take twice as long', { cost: prefill(2) }],
  ['10 % of the KV cache kept free', { cost: (cost) => ({ ...cost, watermark: 0.1 }) }],
  ['75 µs more a layer for each doubling of TP', { cost: allReduce }],
  ['a sequence costs nothing a step', { cost: (cost) => ({ ...cost, secondsPerSequence: 0 }) }],
];
/** Settings of adaptive-tp that replace the usual ones. */
export type PolicyTerm = Partial<AdaptiveTpInput>;

/** Terms of the policy. */
export const policyTerms: readonly (readonly [string, PolicyTerm])[] = [
  ['preemptions alone, no profile', { profile: [] }],
  ['preemptions alone, no cool-down', { profile: [], cooldownSteps: 0 }],
  ['preemptions alone, a rise from 1.2 times', { profile: [], riseFactor: 1.2 }],
  ['profile asked when the load has doubled', { loadTolerance: 1 }],
];
