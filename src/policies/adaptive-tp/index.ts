export { adaptiveTp, type TpEvent } from './adaptive-tp.ts';
export { type Bounds, degreesOf, type Parallelism, replicasOf } from './bounds.ts';
export type { TpDecision } from './decisions.ts';
export { type TpConfig, type TpInput, tpConfig } from './schema.ts';
export { selectTp, type TpCandidate, type TpProfile, type TpSelection, type TpWorkload } from './select-tp.ts';
