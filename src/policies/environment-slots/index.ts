/**
 * The policy `environment-slots`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/environment-slots.ts';
export { environmentSlots } from './environment-slots.ts';
