/**
 * The planner `grpo-advantages`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/grpo-advantages.ts';
export { grpoAdvantages } from './grpo-advantages.ts';
