/**
 * The policy `stream-training`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/stream-training.ts';
export { streamTraining } from './stream-training.ts';
