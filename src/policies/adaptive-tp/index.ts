/**
 * The policy `adaptive-tp`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/adaptive-tp.ts';
export { adaptiveTp } from './adaptive-tp.ts';
export { selectTp, type TpCandidate, type TpProfile, type TpSelection, type TpWorkload } from './predict.ts';
export { type Bounds, type Parallelism, replicasOf } from './schema.ts';
