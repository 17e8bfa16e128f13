/**
 * The recipe `tail-pipelining`, with its types.
 *
 * @packageDocumentation
 */

export { tailPipeliningConfig } from './schema.ts';
export { tailPipelining } from './tail-pipelining.ts';
export type * from './types.ts';
