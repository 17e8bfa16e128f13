/**
 * The policy `staleness-pacing`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/staleness-pacing.ts';
export { stalenessPacing } from './staleness-pacing.ts';
