/** The best scheduler of a comparison, and the gain of each variant of an ablation. */
import type { ComparisonResult, SchedulerResult } from '../comparison/result.ts';
import type { PoolsSchedulerResult } from '../pools/result.ts';
import type { VlmSchedulerResult } from '../vlm-formulas/result.ts';

/** A smaller share of the time counts as no difference. */
export const nothing = 0.0005;

/** Returns the share of the time that a speedup saves. */
export const savedBy = (speedup: number): number => 1 - 1 / speedup;

/** Whether a scheduler is a policy of the user: the ids of those have a namespace. */
export const isOwn = ({ scheduler }: Pick<SchedulerResult, 'scheduler'>): boolean => scheduler.includes('/');

const fastestOf = (some: readonly SchedulerResult[]): SchedulerResult | undefined =>
  some.toSorted((a, b) => b.speedup.value - a.speedup.value)[0];

/**
 * Returns the scheduler that a report presents: the fastest of the user's policies, the last variant of an ablation, or otherwise the
 * fastest scheduler other than the baseline.
 */
export function bestOf(schedulers: readonly SchedulerResult[]): SchedulerResult | undefined {
  const [, ...others] = schedulers;
  const top = others.find(
    ({ variant, scheduler }) => variant !== undefined && !others.some((one) => one.variant?.above === scheduler),
  );
  return fastestOf(others.filter(isOwn)) ?? top ?? fastestOf(others);
}

/** Returns the fastest scheduler that rollflex ships, other than the baseline, where a report presents a policy of the user. */
export function shippedBeside(best: SchedulerResult, [, ...others]: readonly SchedulerResult[]) {
  return isOwn(best) ? fastestOf(others.filter((one) => !isOwn(one))) : undefined;
}

/** Returns the seconds per step that a variant saves over the variant below it; `undefined` without one. */
export function contributionOf(one: SchedulerResult, { schedulers }: ComparisonResult): number | undefined {
  const below = schedulers.find(({ scheduler }) => scheduler === one.variant?.above);
  return below === undefined ? undefined : below.stepSeconds.value - one.stepSeconds.value;
}

/** Whether a variant changes nothing: its row would equal that of the variant below it. */
export function isIdle(one: SchedulerResult, comparison: ComparisonResult): boolean {
  const contributed = contributionOf(one, comparison);
  return contributed !== undefined && Math.abs(contributed) < nothing * comparison.schedulers[0]!.stepSeconds.value;
}

/** Returns the scheduler of pools with the shortest main time; `undefined` for none. */
export const fastestPools = (some: readonly PoolsSchedulerResult[]): PoolsSchedulerResult | undefined =>
  some.toSorted((a, b) => a.mainSeconds.value - b.mainSeconds.value)[0];

/** Returns the fastest vision-language scheduler: the last of equally fast ones, because it has the most mechanisms of FlexRL. */
export const fastestVlm = (schedulers: readonly VlmSchedulerResult[]): VlmSchedulerResult =>
  schedulers.reduce((one, other) => (other.speedup >= one.speedup ? other : one));

/** Whether a scheduler has both mechanisms of RolloutPipe, and nothing else. */
export const hasBoth = ({ pipelining, tailBatching, width }: PoolsSchedulerResult): boolean =>
  pipelining && !tailBatching && width !== 'all';
