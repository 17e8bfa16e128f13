/**
 * Group-relative advantages (RolloutPipe §3.2, equation 1): each reward against those of the same group, whatever the
 * size of the group. See README.md.
 */
import { definePlanner } from '../../core/definition.ts';
import { type AdvantagesPlan, type AdvantagesSettings, advantagesInput, advantagesPlan } from './schema.ts';

type Group = AdvantagesSettings['groups'][number];
type PlannedGroup = AdvantagesPlan['groups'][number];

/** Mean in two passes: what rounding took from the first comes back in the second. */
function meanOf(values: readonly number[]): number {
  const rough = values.reduce((sum, value) => sum + value, 0) / values.length;
  return rough + values.reduce((sum, value) => sum + (value - rough), 0) / values.length;
}

/** The rewards of the responses, each once. */
function distinct({ rewards, responseIds }: Group): readonly number[] {
  if (responseIds === undefined) return rewards;
  const first = new Set<string>();
  return rewards.filter((_, index) => {
    const id = responseIds[index]!;
    if (first.has(id)) return false;
    first.add(id);
    return true;
  });
}

function planGroup(group: Group, settings: AdvantagesSettings): PlannedGroup {
  const rewards = distinct(group);
  const n = rewards.length;
  const mean = meanOf(rewards);
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const std = n === 1 ? 0 : Math.sqrt(squares / (settings.std === 'sample' ? n - 1 : n));
  const zeroVariance = n > 1 && Math.sqrt(squares / n) <= settings.varianceTolerance;
  // The mean of the others is as far from a reward as that of all, times n / (n − 1).
  const reach = settings.baseline === 'leave-one-out' ? n / (n - 1) : 1;
  const unit = settings.normalization === 'std' ? std + settings.epsilon : 1;
  const advantageOf = (reward: number): number => {
    if (n === 1) return settings.singleResponse === 'reward' ? reward + 0 : 0;
    return zeroVariance ? 0 : ((reward - mean) * reach) / unit;
  };
  return {
    ...(group.groupId === undefined ? {} : { groupId: group.groupId }),
    responses: n,
    mean,
    std,
    zeroVariance,
    advantages: group.rewards.map(advantageOf),
  };
}

/** The planner; `grpoAdvantages` is its plain function. */
export const grpoAdvantagesPlanner = definePlanner({
  id: 'grpo-advantages',
  version: 1,
  summary: 'Group-relative advantages: mean and standard deviation of each group, of any size.',
  source: 'RolloutPipe §3.2',
  input: advantagesInput,
  plan: advantagesPlan,
  compute: (input) => ({ groups: input.groups.map((group) => planGroup(group, input)) }),
});
