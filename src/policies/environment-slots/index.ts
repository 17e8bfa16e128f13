/**
 * The policy `environment-slots`, with its types.
 *
 * @packageDocumentation
 */

export { environmentSlots } from './environment-slots.ts';
export type * from './types.ts';
