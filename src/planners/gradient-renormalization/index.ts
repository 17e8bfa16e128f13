/**
 * The planner `gradient-renormalization`, with its types.
 *
 * @packageDocumentation
 */

export { type Scale as GradientScale, scaleFactor } from '../../core/renormalize.ts';
export { gradientRenormalization } from './gradient-renormalization.ts';
export type * from './types.ts';
