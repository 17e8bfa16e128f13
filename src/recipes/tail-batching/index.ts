/**
 * The recipe `tail-batching`, with its types.
 *
 * @packageDocumentation
 */

export { tailBatching } from './tail-batching.ts';
export type * from './types.ts';
