/**
 * The planner `judge-offload`, with its types.
 *
 * @packageDocumentation
 */

export { judgeOffload } from './judge-offload.ts';
export { type Pace, pipelinedSeconds } from './pipeline.ts';
export type * from './types.ts';
