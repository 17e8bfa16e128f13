export { gradientRenormalization } from './gradient-renormalization.ts';
export { renormalizationInput, renormalizationPlan } from './schema.ts';
export type * from './types.ts';
