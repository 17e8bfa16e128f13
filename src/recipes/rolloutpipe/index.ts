/**
 * The recipe `rolloutpipe`, with its types.
 *
 * @packageDocumentation
 */

export { rolloutPipe } from './rolloutpipe.ts';
export { rolloutPipeConfig } from './schema.ts';
export type * from './types.ts';
