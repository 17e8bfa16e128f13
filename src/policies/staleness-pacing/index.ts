/**
 * The policy `staleness-pacing`, with its types.
 *
 * @packageDocumentation
 */

export { stalenessPacing } from './staleness-pacing.ts';
export type * from './types.ts';
