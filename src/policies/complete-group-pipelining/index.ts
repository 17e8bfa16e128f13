/**
 * The policy `complete-group-pipelining`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/complete-group-pipelining.ts';
export { completeGroupPipelining, trainerReports } from './complete-group-pipelining.ts';
