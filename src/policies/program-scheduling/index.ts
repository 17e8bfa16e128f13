/**
 * The policy `program-scheduling`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/program-scheduling.ts';
export { programScheduling } from './program-scheduling.ts';
