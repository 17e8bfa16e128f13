export { microBatches } from './micro-batches.ts';
export { microBatch, microBatchesPlan } from './plan-schema.ts';
export { microBatchesInput } from './schema.ts';
export type * from './types.ts';
