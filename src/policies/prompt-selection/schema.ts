/** Configuration of prompt-selection. */
import { z } from 'zod';
import { advantageFields } from '../../schemas/advantages.ts';
import { count, largestReward, positiveCount } from '../../schemas/units.ts';

const share = z.number().min(0).max(1);

/** Settings of the selection alone; a recipe adds them to the shared settings. */
export const selectionSettings = {
  rewards: z
    .enum(['binary', 'real'])
    .default('binary')
    .describe('`binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale.'),
  passReward: z
    .number()
    .min(-largestReward)
    .max(largestReward)
    .default(1)
    .describe('With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1.'),
  normalization: advantageFields.normalization.describe(
    'That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by their variance.',
  ),
  lengthExponent: share
    .default(0.5)
    .describe('Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token.'),
  threshold: z
    .number()
    .min(0)
    .max(16)
    .default(1)
    .describe(
      'A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance (worth ÷ that)². 0: each is taken.',
    ),
  explorationShare: share
    .default(0.02)
    .describe('Least chance with which a prompt is taken when it is offered, whatever it is worth.'),
  maxPasses: count
    .default(16)
    .describe('A prompt is passed over so many times in a row at most, that is, for so many epochs.'),
  domainFloor: share
    .default(0.25)
    .describe(
      'A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no such floor.',
    ),
  maxOffered: positiveCount
    .max(1000)
    .default(8)
    .describe('A round passes nothing over any more once so many times the prompts that it needs were offered.'),
  retention: z
    .number()
    .min(0.01)
    .max(1)
    .default(0.99)
    .describe(
      'Share of the weight of what is known about a prompt that remains after each new version of the weights.',
    ),
  priorResponses: z
    .number()
    .min(0.01)
    .max(1000)
    .default(2)
    .describe('What is known of the domain counts as much as so many responses of the prompt itself.'),
  rememberedPrompts: positiveCount
    .max(10_000_000)
    .default(1_000_000)
    .describe('Prompts of which rewards and lengths are remembered; the others count as new ones of their domain.'),
  seed: z.int().nonnegative().max(0xffff_ffff).default(0).describe('Seed of the draws.'),
  unbiased: z
    .boolean()
    .default(false)
    .describe(
      'Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all prompts.',
    ),
};

const shape = z.strictObject({
  promptsPerRound: positiveCount
    .optional()
    .describe('P0: prompts of a round. Absent: only a `prompts.request` says how many are needed.'),
  responsesPerPrompt: z.int().min(2).max(4096).describe('R0: responses that a prompt needs (the group size).'),
  fill: z
    .enum(['prompts', 'kept'])
    .default('prompts')
    .describe(
      '`prompts`: as many are taken as are needed. `kept`: so many that as many are likely to be kept by a filter of groups whose rewards are equal, up to four times as many.',
    ),
  passedOver: z
    .enum(['return', 'last'])
    .default('return')
    .describe(
      'What becomes of prompts that are passed over. `return`: `prompts.passed` hands them back. `last`: they wait here, and are taken at the end of the epoch, so that only the order changes.',
    ),
  minResponses: z
    .int()
    .min(2)
    .max(4096)
    .optional()
    .describe('Least responses of a prompt, where they are shared out by what they are worth; R0 if absent.'),
  maxResponses: z
    .int()
    .min(2)
    .max(4096)
    .optional()
    .describe('Most responses of a prompt. A round has R0 times as many responses as it has prompts.'),
  tokensPerRound: positiveCount
    .optional()
    .describe(
      'Expected tokens of all responses of a round: it has no more prompts and responses than fit, and one prompt at least.',
    ),
  ...selectionSettings,
});

/** With `fill: kept`, a round takes at most so many times the prompts that it needs. */
export const mostKeptFactor = 4;

type Settings = z.output<typeof shape>;

/** Returns the least and the most responses of a prompt. */
export const responseRange = ({ responsesPerPrompt: n, minResponses = n, maxResponses = n }: ResponseSettings) =>
  ({ least: minResponses, most: maxResponses }) as const;
type ResponseSettings = Pick<Settings, 'responsesPerPrompt' | 'minResponses' | 'maxResponses'>;

function refuseRange(config: Settings, refuse: Refuse): void {
  const { responsesPerPrompt: n, rewards, normalization, unbiased } = config;
  const { least, most } = responseRange(config);
  if (least > n) refuse('minResponses', `at most responsesPerPrompt, ${n}`);
  if (most < n) refuse('maxResponses', `at least responsesPerPrompt, ${n}`);
  if (least === most) return;
  const path = config.maxResponses === undefined ? 'minResponses' : 'maxResponses';
  if (unbiased) refuse(path, 'none beside `unbiased`: each prompt has R0 responses, or its gradient has another scale');
  if (rewards === 'real' && normalization === 'std')
    refuse(path, 'none with `rewards: real` and `normalization: std`: what one more response teaches is not known');
}

type Refuse = (path: keyof Settings, expected: string) => void;

export const selectionConfig = shape.superRefine((config, context) => {
  const refuse: Refuse = (path, expected) =>
    context.addIssue({ code: 'custom', path: [path], message: `expected ${expected}` });
  refuseRange(config, refuse);
  if (!config.unbiased) return;
  if (config.normalization !== 'none')
    refuse('normalization', '`none` beside `unbiased`: a standard deviation of the rewards is no fixed divisor');
  if (config.explorationShare === 0)
    refuse('explorationShare', 'more than 0 beside `unbiased`: a prompt without a chance has no weight');
  if (config.passedOver === 'last')
    refuse('passedOver', '`return` beside `unbiased`: each prompt is taken in every epoch, and needs no weight');
  if (config.fill === 'kept') refuse('fill', '`prompts` beside `unbiased`: what a filter keeps depends on the rewards');
});
