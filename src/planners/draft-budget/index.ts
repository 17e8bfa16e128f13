/**
 * The planner `draft-budget`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/draft-budget.ts';
export { draftBudget } from './draft-budget.ts';
