/**
 * The policy `adaptive-tp`, with its types.
 *
 * @packageDocumentation
 */

export { adaptiveTp } from './adaptive-tp.ts';
export { type Bounds, type Parallelism, replicasOf } from './bounds.ts';
export { selectTp, type TpCandidate, type TpProfile, type TpSelection, type TpWorkload } from './select-tp.ts';
export type * from './types.ts';
