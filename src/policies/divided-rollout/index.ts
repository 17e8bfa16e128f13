/**
 * The policy `divided-rollout`, with its types.
 *
 * @packageDocumentation
 */

export { dividedRollout } from './divided-rollout.ts';
export type * from './types.ts';
