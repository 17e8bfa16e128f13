/**
 * The planner `grpo-advantages`, with its types.
 *
 * @packageDocumentation
 */

export { grpoAdvantages } from './grpo-advantages.ts';
export type * from './types.ts';
