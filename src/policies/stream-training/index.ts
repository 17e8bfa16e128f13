/**
 * The policy `stream-training`, with its types.
 *
 * @packageDocumentation
 */

export { streamTraining } from './stream-training.ts';
export type * from './types.ts';
