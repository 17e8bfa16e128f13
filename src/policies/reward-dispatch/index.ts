/**
 * The policy `reward-dispatch`, with its types.
 *
 * @packageDocumentation
 */

export { rewardDispatch } from './reward-dispatch.ts';
export { kindOfDomain, rewardDispatchConfig } from './schema.ts';
export type * from './types.ts';
