export { streamTrainingConfig } from './schema.ts';
export { streamTraining } from './stream-training.ts';
export type * from './types.ts';
