/**
 * The recipe `agentic-rollout`, with its types.
 *
 * @packageDocumentation
 */

export { agenticRollout } from './agentic-rollout.ts';
export type * from './types.ts';
