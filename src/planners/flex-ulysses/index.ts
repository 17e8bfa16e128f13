/**
 * The planner `flex-ulysses`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/flex-ulysses.ts';
export { type Deadlock, type DeadlockOptions, findDeadlock } from './execution/deadlock.ts';
export {
  type PackedPlan,
  type PlanTimeline,
  predictTimeline,
  type TimelineOptions,
  type TimelineSpan,
} from './execution/schedule.ts';
export type { ExecutionOrder } from './execution/schema.ts';
export { allToAllTime, attentionTime, type TimingCoefficients, timingPresets } from './execution/timing.ts';
export { flexUlysses } from './flex-ulysses.ts';
