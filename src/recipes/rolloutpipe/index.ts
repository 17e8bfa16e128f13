/**
 * The recipe `rolloutpipe`, with its types.
 *
 * @packageDocumentation
 */

export { rolloutPipe } from './rolloutpipe.ts';
export type * from './types.ts';
