/**
 * The policy `divided-rollout`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/divided-rollout.ts';
export { dividedRollout } from './divided-rollout.ts';
