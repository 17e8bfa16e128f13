export { type CostModel, costModel } from './costs.ts';
export { type Deadlock, type DeadlockOptions, findDeadlock } from './execution/deadlock.ts';
export {
  type PackedPlan,
  type PlanTimeline,
  predictTimeline,
  type TimelineOptions,
  type TimelineSpan,
} from './execution/schedule.ts';
export type { ExecutionOrder, ExecutionSchedule, SequencePack, VisionShare } from './execution/schema.ts';
export { type TimingCoefficients, type TimingModel, timingPresets } from './execution/timing.ts';
export { flexUlyssesPlanner } from './flex-ulysses.ts';
export {
  type FlexUlyssesPlan,
  flexUlyssesPlan,
  type SequenceAssignment,
} from './plan-schema.ts';
export { type FlexUlyssesInput, type FlexUlyssesSettings, flexUlyssesInput } from './schema.ts';
