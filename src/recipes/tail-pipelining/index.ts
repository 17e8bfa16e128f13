/**
 * The recipe `tail-pipelining`, with its types.
 *
 * @packageDocumentation
 */

export { tailPipelining } from './tail-pipelining.ts';
export type * from './types.ts';
