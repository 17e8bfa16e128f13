/**
 * The recipe `tail-batching`, with its types.
 *
 * @packageDocumentation
 */

export { tailBatching, tailBatchingConfig } from './tail-batching.ts';
export type * from './types.ts';
