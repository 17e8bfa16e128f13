/**
 * The policy `reward-dispatch`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/reward-dispatch.ts';
export { rewardDispatch } from './reward-dispatch.ts';
