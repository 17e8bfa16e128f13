/**
 * The policy `stream-training`, with its types.
 *
 * @packageDocumentation
 */

export { streamTrainingConfig } from './schema.ts';
export { streamTraining } from './stream-training.ts';
export type * from './types.ts';
