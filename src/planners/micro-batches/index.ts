/**
 * The planner `micro-batches`, with its types.
 *
 * @packageDocumentation
 */

export { karmarkarKarp } from '../../core/karmarkar-karp.ts';
export { microBatches } from './micro-batches.ts';
export type * from './types.ts';
