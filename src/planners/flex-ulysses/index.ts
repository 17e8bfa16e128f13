export { type CostModel, costModel } from './costs.ts';
export { flexUlyssesPlanner } from './flex-ulysses.ts';
export {
  type FlexUlyssesPlan,
  flexUlyssesPlan,
  type SequenceAssignment,
} from './plan-schema.ts';
export { type FlexUlyssesInput, type FlexUlyssesSettings, flexUlyssesInput } from './schema.ts';
