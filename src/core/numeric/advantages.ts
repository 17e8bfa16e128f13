/** Group-relative advantages (RolloutPipe §3.2, equation 1), for planners and policies. */
import type { AdvantageSettings } from '../../schemas/advantages.ts';

/** Statistics of the rewards of a group. */
export interface RewardStatistics {
  /** Number of rewards, >= 1. */
  readonly n: number;
  readonly mean: number;
  /** Standard deviation, by the requested formula; 0 for one reward. */
  readonly std: number;
  /** Standard deviation over n, whatever kind was asked for. */
  readonly populationStd: number;
  /** Whether all rewards are equal; false for a single reward, which has no variance. */
  readonly zeroVariance: boolean;
}

/** Computes the mean in two passes: the second corrects the rounding error of the first. */
function meanOf(values: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += values[index]!;
  const rough = sum / values.length;
  let rest = 0;
  for (let index = 0; index < values.length; index += 1) rest += values[index]! - rough;
  return rough + rest / values.length;
}

/** Computes mean and standard deviation of the rewards of one group, at least one. */
export function rewardStatistics(rewards: readonly number[], settings: AdvantageSettings): RewardStatistics {
  const n = rewards.length;
  const mean = meanOf(rewards);
  let squares = 0;
  for (let index = 0; index < n; index += 1) {
    const apart = rewards[index]! - mean;
    squares += apart * apart;
  }
  const populationStd = Math.sqrt(squares / n);
  let std = 0;
  if (n > 1) std = settings.std === 'sample' ? Math.sqrt(squares / (n - 1)) : populationStd;
  return { n, mean, std, populationStd, zeroVariance: n > 1 && populationStd <= settings.varianceTolerance };
}

/** Computes the advantage of one reward of a group. */
export function advantageOf(reward: number, statistics: RewardStatistics, settings: AdvantageSettings): number {
  const { n, mean, std, zeroVariance } = statistics;
  if (n === 1) return settings.singleResponse === 'reward' ? reward + 0 : 0;
  if (zeroVariance) return 0;
  // A reward's distance to the mean of the other rewards is its distance to the mean of all, times n / (n − 1).
  const reach = settings.baseline === 'leave-one-out' ? n / (n - 1) : 1;
  const unit = settings.normalization === 'std' ? std + settings.epsilon : 1;
  return ((reward - mean) * reach) / unit;
}
