/** The best scheduler of a comparison, and the gain of each variant of an ablation. */
import type { ComparisonResult, SchedulerResult } from '../comparison/result.ts';

/** A smaller share of the time counts as no difference. */
export const nothing = 0.0005;

/** Returns the share of the time that a speedup saves. */
export const savedBy = (speedup: number): number => 1 - 1 / speedup;

/**
 * Returns the scheduler that a report presents: the last variant of an ablation, or otherwise the fastest scheduler other than the
 * baseline.
 */
export function bestOf(schedulers: readonly SchedulerResult[]): SchedulerResult | undefined {
  const [, ...others] = schedulers;
  const top = others.find(
    ({ variant, scheduler }) => variant !== undefined && !others.some((one) => one.variant?.above === scheduler),
  );
  return top ?? [...others].sort((a, b) => b.speedup.value - a.speedup.value)[0];
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
