/**
 * The planner `draft-budget`, with its types.
 *
 * @packageDocumentation
 */

export { draftBudget } from './draft-budget.ts';
export type * from './types.ts';
