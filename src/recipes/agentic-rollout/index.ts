/**
 * The recipe `agentic-rollout`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/agentic-rollout.ts';
export { agenticRollout } from './agentic-rollout.ts';
