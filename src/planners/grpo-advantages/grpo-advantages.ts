/**
 * Group-relative advantages (RolloutPipe §3.2, equation 1): each reward is compared with the other rewards of its group, which
 * may have any size. See README.md.
 */

import { definePlanner, type PlannerDefinition } from '../../core/machine/definition.ts';
import { advantageOf, rewardStatistics } from '../../core/numeric/advantages.ts';
import type {
  GrpoAdvantagesInput,
  GrpoAdvantagesPlan,
  GrpoAdvantagesSettings,
} from '../../generated/settings/grpo-advantages.ts';
import { advantagesInput, advantagesPlan } from './schema.ts';

type Group = GrpoAdvantagesSettings['groups'][number];
const empty = { n: 0, mean: 0, std: 0, populationStd: 0, zeroVariance: false };
type PlannedGroup = GrpoAdvantagesPlan['groups'][number];

/** Returns the rewards of distinct responses; a response that is listed twice counts once. */
function distinct({ rewards, responseIds }: Group): readonly number[] {
  const first = new Set<string>();
  return rewards.filter((reward, index): reward is number => {
    const id = responseIds?.[index];
    if (reward === null || (id !== undefined && first.has(id))) return false;
    if (id !== undefined) first.add(id);
    return true;
  });
}

function planGroup(group: Group, settings: GrpoAdvantagesSettings): PlannedGroup {
  const known = distinct(group);
  // Groups without any reward are left out.
  const statistics = known.length === 0 ? empty : rewardStatistics(known, settings);
  const { n, mean, std, zeroVariance } = statistics;
  return {
    ...(group.groupId === undefined ? {} : { groupId: group.groupId }),
    responses: n,
    mean,
    std,
    zeroVariance,
    advantages: group.rewards.map((reward) => (reward === null ? 0 : advantageOf(reward, statistics, settings))),
  };
}

/** Computes group-relative advantages from the mean and standard deviation of each group, which may have any size. */
export const grpoAdvantages: PlannerDefinition<
  GrpoAdvantagesInput,
  GrpoAdvantagesSettings,
  GrpoAdvantagesPlan,
  'grpo-advantages'
> = definePlanner({
  id: 'grpo-advantages',
  version: 1,
  summary: 'Group-relative advantages: mean and standard deviation of each group, of any size.',
  source: 'RolloutPipe §3.2',
  input: advantagesInput,
  plan: advantagesPlan,
  compute: (input) => ({ groups: input.groups.map((group) => planGroup(group, input)) }),
});
