export { type CostModel, costModel } from './costs.ts';
export { type Deadlock, type DeadlockOptions, findDeadlock } from './execution/deadlock.ts';
export {
  type PackedPlan,
  type PlanTimeline,
  predictTimeline,
  type TimelineOptions,
  type TimelineSpan,
} from './execution/schedule.ts';
export type { ExecutionOrder } from './execution/schema.ts';
export {
  allToAllTime,
  attentionTime,
  type TimingCoefficients,
  type TimingModel,
  timingModel,
  timingPresets,
} from './execution/timing.ts';
export { flexUlysses } from './flex-ulysses.ts';
export {
  type ExecutionSchedule,
  type FlexUlyssesPlan,
  flexUlyssesPlan,
  type SequenceAssignment,
  type SequencePack,
  type VisionShare,
} from './plan-schema.ts';
export { type FlexUlyssesInput, type FlexUlyssesSettings, flexUlyssesInput } from './schema.ts';
