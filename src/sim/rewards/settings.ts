/** Costs of rewards in the simulated job. */
import { z } from 'zod';
import { positiveCount } from '../../schemas/units.ts';
import { correctnessSettings } from './correctness.ts';
import { judgeSettings } from './judge-settings.ts';
import { learningSettings } from './learning.ts';

const share = z.number().min(0).max(1);
const secondsOf = (text: string) => z.number().nonnegative().describe(text);

/** Schema of the reward stage: the kinds of rewards, and their times. */
export const rewardSettings = z.strictObject({
  shares: z
    .strictObject({ rule: share, sandbox: share, judge: share })
    .prefault({ rule: 1 / 3, sandbox: 1 / 3, judge: 1 / 3 })
    .describe('Shares of the prompts whose rewards come from each kind of worker, where the trace names no task.'),
  workers: z
    .strictObject({ rule: positiveCount, sandbox: positiveCount, judge: positiveCount })
    .describe('Workers of each kind; each computes one reward at a time. Those of a judge only without `judge`.'),
  ruleSeconds: secondsOf('Seconds of a rule-based check.').default(0.05),
  sandboxMedianSeconds: secondsOf('Median seconds of a run that ends by itself.').default(0.2),
  sandboxSpread: secondsOf('Standard deviation of the logarithm of those seconds between prompts.').default(0.6),
  sandboxNoise: secondsOf('The same between runs of one prompt.').default(0.35),
  doomedShare: share.default(0.05).describe('Share of runs that never end by themselves.'),
  ...correctnessSettings,
  learning: learningSettings
    .optional()
    .describe(
      'Pass rates grow from those with what is trained on, by a small model; recorded rewards are left out then. Absent: they stay.',
    ),
  judge: judgeSettings
    .optional()
    .describe('The judge as a model on GPUs. Without it, judgements take the seconds below on plain workers.'),
  judgeBaseSeconds: secondsOf('Seconds of a judgement, whatever the response.').default(0.5),
  judgeSecondsPerToken: secondsOf('Further seconds of a judgement for each token of the response.').default(0),
  sandboxSeconds: z
    .array(z.array(z.number().positive()).min(1))
    .min(1)
    .optional()
    .describe('Measured seconds of correct runs, a list for each test case, in the place of the distribution above.'),
});

/** The reward stage with its defaults filled in. */
export type RewardSettings = z.output<typeof rewardSettings>;
