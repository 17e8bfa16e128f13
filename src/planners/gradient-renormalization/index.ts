export { gradientRenormalization } from './gradient-renormalization.ts';
export {
  type RenormalizationInput,
  type RenormalizationPlan,
  type RenormalizationSettings,
  renormalizationInput,
  renormalizationPlan,
} from './schema.ts';
