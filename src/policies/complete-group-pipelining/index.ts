/**
 * The policy `complete-group-pipelining`, with its types.
 *
 * @packageDocumentation
 */

export { completeGroupPipelining, trainerReports } from './complete-group-pipelining.ts';
export type * from './types.ts';
