export { microBatches } from './micro-batches.ts';
export { type MicroBatch, type MicroBatchesPlan, microBatch, microBatchesPlan } from './plan-schema.ts';
export { type MicroBatchesInput, type MicroBatchesSettings, microBatchesInput } from './schema.ts';
