/** Settings of disaggregated pools. */
import { choice, range, type SettingsOf } from './fields.ts';
import { ownOption, traceOptions } from './traces.ts';

export const poolsFields = {
  t: choice(
    'Response lengths',
    'The tasks of RolloutPipe §5.1 (drawn from distributions), or recorded lengths.',
    [
      ['lsat-ar', 'RolloutPipe: LSAT-AR'],
      ['sci-xw', 'RolloutPipe: Sci-XW'],
      ['sci-jl', 'RolloutPipe: Sci-JL'],
      ['olyphys', 'RolloutPipe: OlyPhys'],
      ...traceOptions,
      ownOption,
    ],
    'lsat-ar',
  ),
  R: range('R, groups a round', 'A group is a prompt with its responses.', { min: 2, max: 96, step: 1, usual: 32 }),
  K: range('K, responses a group', 'Responses of a prompt, all of them trained on.', {
    min: 1,
    max: 32,
    step: 1,
    usual: 8,
  }),
  U: range('U, groups an update', 'The trainer takes a step of the optimizer for so many groups.', {
    min: 1,
    max: 16,
    step: 1,
    usual: 2,
  }),
  Fw: range(
    'F_w, width of the frontier',
    'Most groups in service at once. Narrow: the first groups are complete early.',
    {
      min: 1,
      max: 96,
      step: 1,
      usual: 14,
    },
  ),
  e: range('Engines', 'Inference engines of the rollout pool, two A100 each (TP 2).', {
    min: 1,
    max: 8,
    step: 1,
    usual: 1,
  }),
  tr: range('Trainer, seconds for 1,000 tokens', 'How fast the trainer pool is; eight RTX 4090 take 0.218 s.', {
    min: 0.01,
    max: 1,
    step: 0.002,
    usual: 0.218,
    unit: 's',
  }),
  ver: range('Verifier', 'Seconds from a response to its reward.', {
    min: 0,
    max: 20,
    step: 0.1,
    usual: 0.1,
    unit: 's',
  }),
  cap: range('Longest response', 'Of recorded lengths; the tasks of RolloutPipe end at 8,192 tokens.', {
    min: 1024,
    max: 32_768,
    step: 1024,
    usual: 8192,
    unit: 'tokens',
  }),
  n: range('Rounds', 'Rounds that are simulated.', { min: 1, max: 6, step: 1, usual: 2 }),
  s: range('Seeds', 'Repetitions with other draws. While you move a slider, the first alone is shown.', {
    min: 1,
    max: 5,
    step: 1,
    usual: 3,
  }),
};
export type PoolsSettings = SettingsOf<typeof poolsFields>;
