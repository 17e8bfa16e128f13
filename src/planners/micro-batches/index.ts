/**
 * The planner `micro-batches`, with its types.
 *
 * @packageDocumentation
 */

export { karmarkarKarp } from '../../core/numeric/karmarkar-karp.ts';
export type * from '../../generated/settings/micro-batches.ts';
export { microBatches } from './micro-batches.ts';
