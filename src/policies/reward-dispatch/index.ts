/**
 * The policy `reward-dispatch`, with its types.
 *
 * @packageDocumentation
 */

export { rewardDispatch } from './reward-dispatch.ts';
export type * from './types.ts';
