/**
 * The recipe `rolloutpipe`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/rolloutpipe.ts';
export { rolloutPipe } from './rolloutpipe.ts';
