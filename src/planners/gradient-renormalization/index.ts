/**
 * The planner `gradient-renormalization`, with its types.
 *
 * @packageDocumentation
 */

export { type Scale as GradientScale, scaleFactor } from '../../core/numeric/renormalize.ts';
export type * from '../../generated/settings/gradient-renormalization.ts';
export { gradientRenormalization } from './gradient-renormalization.ts';
