/**
 * The policy `round-composition`, with its types.
 *
 * @packageDocumentation
 */

export { roundComposition } from './round-composition.ts';
export type * from './types.ts';
