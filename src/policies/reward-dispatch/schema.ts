/** Configuration of reward-dispatch. */
import { z } from 'zod';
import type { RewardDispatchConfig } from '../../generated/settings/reward-dispatch.ts';
import { type RewardKind, rewardBudgetSeconds, rewardKind } from '../../schemas/reward-workers.ts';
import { count, domain, idPrefix, positiveCount, positiveSeconds } from '../../schemas/units.ts';

const budgetSeconds = z
  .strictObject({
    rule: rewardBudgetSeconds.default(2).describe('Seconds that a rule may take.'),
    sandbox: rewardBudgetSeconds.default(30).describe('Seconds that a sandbox may take.'),
    judge: rewardBudgetSeconds.default(120).describe('Seconds that a judge may take.'),
  })
  .describe('Budgets of the kinds, for requests that bring none of their own.');

const retry = z
  .strictObject({
    infrastructure: count
      .default(3)
      .describe(
        'Further tries after failures that are proven to be its own: others have succeeded since where it failed. Silence of a worker is such a failure, the loss of one is none.',
      ),
    giveUpSeconds: positiveSeconds
      .optional()
      .describe(
        'Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with others; absent: never.',
      ),
    timeout: count.default(0).describe('Further tries of a response that ran out of its budget.'),
  })
  .describe('Retry budgets of each response.');

const shape = z.strictObject({
  defaultKind: rewardKind.default('rule').describe('How rewards are computed where nothing else says so.'),
  kindByDomain: z.record(domain, rewardKind).optional().describe('How rewards are computed, by the domain.'),
  budgetSeconds: budgetSeconds.prefault({}),
  retry: retry.prefault({}),
  onTimeout: z
    .enum(['reward', 'fail'])
    .default('reward')
    .describe('What a response is given that ran out of time for good: `timeoutReward`, or no reward at all.'),
  timeoutReward: z.number().default(0).describe('The reward of a response that ran out of time.'),
  answerGraceSeconds: positiveSeconds
    .default(10)
    .describe('Seconds past its budget until a dispatch without an answer counts as a fault of its worker.'),
  cancelGraceSeconds: positiveSeconds.default(30).describe('Seconds until an unconfirmed cancellation frees its slot.'),
  maxQueued: positiveCount
    .default(65_536)
    .describe('Rewards of one kind that may wait; `reward.requested` is refused beyond.'),
  saturatedQueued: positiveCount
    .optional()
    .describe('With this many of one kind waiting the host is told to hold back; `maxQueued` if absent.'),
  resumedQueued: count
    .optional()
    .describe('With this many or fewer waiting it is told to go on; half of `saturatedQueued` if absent.'),
  idPrefix: idPrefix.default('').describe('Prefix of every dispatch id; new after each restart of the host.'),
});

/** Returns the queue lengths at which the host is told to pause and to resume. */
export function queueMarks(config: z.output<typeof shape>): { saturated: number; resumed: number } {
  const saturated = config.saturatedQueued ?? config.maxQueued;
  return { saturated, resumed: config.resumedQueued ?? Math.floor(saturated / 2) };
}

export const rewardDispatchConfig = shape.superRefine((config, context) => {
  const { saturated, resumed } = queueMarks(config);
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (saturated > config.maxQueued) refuse('saturatedQueued', `at most maxQueued ${config.maxQueued}`);
  if (resumed >= saturated) refuse('resumedQueued', `less than saturatedQueued ${saturated}`);
});

/** Returns the reward kind of a domain. */
export function kindOfDomain(
  { kindByDomain, defaultKind }: Pick<RewardDispatchConfig, 'kindByDomain' | 'defaultKind'>,
  domain: string | undefined,
): RewardKind {
  if (domain === undefined || kindByDomain === undefined || !Object.hasOwn(kindByDomain, domain)) return defaultKind;
  return kindByDomain[domain]!;
}
