/** Settings of the vision-language step. */
import { choice, range, type SettingsOf } from './fields.ts';
import { ownOption } from './traces.ts';

export const vlmFields = {
  t: choice(
    'Sequences',
    'The mixtures of FlexRL §5.1: images, short videos and long videos 5:2:1, 1:2:5 and 0:0:1.',
    [
      ['image-heavy', 'mostly images'],
      ['video-heavy', 'mostly videos'],
      ['only-video', 'long videos alone'],
      ['text', 'text alone (DeepSeek-R1)'],
      ownOption,
    ],
    'image-heavy',
  ),
  m: choice(
    'Model',
    'Its shape and its parallelism, as in FlexRL §5.1.',
    [
      ['mimo-vl-7b', 'MiMo-VL-7B (rollout TP 4)'],
      ['qwen2.5-vl-32b', 'Qwen2.5-VL-32B (rollout TP 16)'],
    ],
    'mimo-vl-7b',
  ),
  gpu: choice(
    'GPU',
    'Memory, bandwidth and speed.',
    [
      ['h800', 'H800'],
      ['h200', 'H200'],
    ],
    'h800',
  ),
  g: range('GPUs', 'All of them roll out, and all of them train.', { min: 8, max: 64, step: 8, usual: 16 }),
  b: range('Sequences a step', 'The batch that is placed on the GPUs.', { min: 8, max: 128, step: 4, usual: 32 }),
  SP: choice(
    'Sharding degree of Ulysses',
    'GPUs that share every sequence. FlexUlysses chooses a degree from 1 to 8 for each sequence by itself.',
    [
      ['1', '1'],
      ['2', '2'],
      ['4', '4'],
      ['8', '8'],
    ],
    '4',
  ),
  ld: choice(
    'Its data loading',
    'Who decodes images and videos for the middle scheduler: one controller, or the nodes (ShadowLoader).',
    [
      ['centralized', 'one controller'],
      ['shadow-loader', 'ShadowLoader'],
    ],
    'centralized',
  ),
  f: range('Most frames of a video', 'Longer videos lose frames, 127 tokens each.', {
    min: 8,
    max: 128,
    step: 8,
    usual: 64,
  }),
  cap: range('Longest response', 'Longer responses are cut there.', {
    min: 256,
    max: 16_384,
    step: 256,
    usual: 1024,
    unit: 'tokens',
  }),
  n: range('Steps', 'Batches that are placed; times are means over them.', { min: 1, max: 5, step: 1, usual: 1 }),
};
export type VlmSettings = SettingsOf<typeof vlmFields>;
