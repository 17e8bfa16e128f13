/**
 * The policy `program-scheduling`, with its types.
 *
 * @packageDocumentation
 */

export { programScheduling } from './program-scheduling.ts';
export type * from './types.ts';
