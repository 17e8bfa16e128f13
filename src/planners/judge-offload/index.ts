/**
 * The planner `judge-offload`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/judge-offload.ts';
export { judgeOffload } from './judge-offload.ts';
export { type Pace, pipelinedSeconds } from './pipeline.ts';
