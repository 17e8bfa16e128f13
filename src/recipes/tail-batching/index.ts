/**
 * The recipe `tail-batching`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/tail-batching.ts';
export { tailBatching } from './tail-batching.ts';
