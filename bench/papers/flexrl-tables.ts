/** The tables of FlexRL (Appendices B and C, §5.3), as printed. */

import type { VlmModelId } from '../../src/sim/vlm-formulas/models.ts';
import type { MixtureId } from '../../src/sim/vlm-formulas/workload/mixtures.ts';

/** A row of Table 2: seconds, and tokens a second and GPU. */
export interface StepRow {
  readonly id: string;
  readonly model: VlmModelId;
  readonly gpus: number;
  readonly mixture: MixtureId;
  readonly scheduler: 'flexrl' | 'ulysses-4' | 'verl-bucketing';
  readonly sequences: number;
  readonly frames: number;
  readonly throughput: number;
  readonly load: number;
  readonly rollout: number;
  readonly old: number;
  readonly reference: number;
  readonly step: number;
  readonly update: number;
}

type Cells = readonly [
  ...[string, VlmModelId, number, MixtureId, StepRow['scheduler'], number, number],
  ...[number, number, number, number, number, number, number],
];

const row = ([id, model, gpus, mixture, scheduler, sequences, frames, ...seconds]: Cells): StepRow => {
  const [throughput, load, rollout, old, reference, step, update] = seconds;
  return {
    id,
    model,
    gpus,
    mixture,
    scheduler,
    sequences,
    frames,
    throughput,
    load,
    rollout,
    old,
    reference,
    step,
    update,
  };
};

const seven = 'mimo-vl-7b';
const large = 'qwen2.5-vl-32b';
const cells: readonly Cells[] = [
  ['CR-01', seven, 32, 'image-heavy', 'flexrl', 64, 256, 233.21, 15.045, 31.703, 6.354, 3.336, 46.404, 4.952],
  ['CR-01', seven, 32, 'image-heavy', 'ulysses-4', 64, 256, 92.5, 54.873, 45.607, 20.866, 20.337, 114.868, 28.002],
  [
    'CR-01',
    seven,
    32,
    'image-heavy',
    'verl-bucketing',
    64,
    256,
    53.18,
    55.572,
    46.447,
    50.763,
    49.881,
    200.155,
    53.006,
  ],
  ['CR-02', seven, 32, 'video-heavy', 'flexrl', 64, 128, 313.99, 11.838, 29.641, 18.318, 8.108, 63.934, 7.777],
  ['CR-02', seven, 32, 'video-heavy', 'ulysses-4', 64, 128, 137.15, 174.811, 71.966, 28.197, 27.751, 161.325, 33.326],
  [
    'CR-02',
    seven,
    32,
    'video-heavy',
    'verl-bucketing',
    64,
    128,
    58.65,
    179.457,
    71.829,
    97.575,
    95.036,
    363.035,
    98.51,
  ],
  ['CR-03', seven, 32, 'only-video', 'flexrl', 64, 64, 525.93, 6.732, 19.384, 3.979, 3.908, 32.307, 4.969],
  ['CR-03', seven, 32, 'only-video', 'ulysses-4', 64, 64, 207.03, 179.082, 51.967, 8.901, 8.705, 82.01, 12.37],
  ['CR-03', seven, 32, 'only-video', 'verl-bucketing', 64, 64, 63.96, 181.61, 52.853, 70.287, 69.811, 265.406, 72.386],
  ['CR-04', large, 64, 'image-heavy', 'flexrl', 128, 256, 101.96, 17.147, 61.914, 15.757, 13.66, 104.506, 13.053],
  [
    'CR-04',
    large,
    64,
    'image-heavy',
    'verl-bucketing',
    128,
    128,
    35.86,
    91.377,
    68.888,
    42.439,
    42.309,
    201.83,
    48.099,
  ],
  [
    'CR-04',
    large,
    64,
    'image-heavy',
    'verl-bucketing',
    128,
    256,
    33.29,
    95.529,
    89.113,
    59.432,
    58.244,
    272.536,
    65.64,
  ],
  ['CR-05', large, 64, 'video-heavy', 'flexrl', 128, 64, 189.79, 6.184, 41.596, 7.063, 6.606, 68.579, 13.197],
  ['CR-05', large, 64, 'video-heavy', 'ulysses-4', 128, 64, 67.29, 230.772, 91.813, 32.929, 32.871, 199.202, 41.476],
  [
    'CR-05',
    large,
    64,
    'video-heavy',
    'verl-bucketing',
    128,
    64,
    43.81,
    236.807,
    94.48,
    68.385,
    67.501,
    305.111,
    74.634,
  ],
  ['CR-06', large, 64, 'only-video', 'flexrl', 128, 96, 221.07, 9.856, 63.303, 17.763, 9.567, 113.518, 22.712],
  ['CR-06', large, 64, 'only-video', 'ulysses-4', 128, 96, 78.85, 496.666, 156.86, 50.508, 49.079, 318.196, 61.579],
  ['CR-06', large, 64, 'only-video', 'verl-bucketing', 128, 64, 47.21, 355.949, 112.491, 79.096, 78.757, 357.82, 87.35],
  ['CR-10', seven, 64, 'image-heavy', 'flexrl', 128, 128, 183.06, 10.548, 19.875, 9.61, 6.34, 39.273, 3.36],
  ['CR-10', seven, 64, 'image-heavy', 'ulysses-4', 128, 128, 61.09, 97.044, 50.916, 24.396, 24.136, 126.604, 27.065],
  ['CR-11', seven, 64, 'video-heavy', 'flexrl', 128, 64, 339.47, 6.267, 21.796, 7.238, 4.892, 38.999, 4.959],
  ['CR-11', seven, 64, 'video-heavy', 'ulysses-4', 128, 128, 74.93, 369.454, 123.124, 58.135, 58.773, 303.776, 63.573],
  ['CR-11', seven, 64, 'video-heavy', 'ulysses-4', 128, 64, 82.45, 231.429, 71.792, 29.816, 29.491, 163.26, 32.051],
  ['CR-12', seven, 64, 'only-video', 'flexrl', 128, 64, 443.24, 6.761, 23.774, 4.438, 4.329, 38.309, 5.635],
  ['CR-12', seven, 64, 'only-video', 'ulysses-4', 128, 64, 89.94, 356.238, 91.013, 31.649, 31.392, 188.718, 34.536],
  ['CR-12', seven, 64, 'only-video', 'verl-bucketing', 128, 64, 52.34, 349.61, 92.122, 77.244, 75.763, 324.317, 79.057],
  ['CR-13', seven, 128, 'image-heavy', 'flexrl', 256, 128, 158.94, 10.956, 24.982, 11.185, 6.643, 47.537, 4.541],
  ['CR-13', seven, 128, 'image-heavy', 'ulysses-4', 256, 128, 33.26, 182.141, 74.846, 49.702, 48.861, 225.579, 51.983],
  [
    'CR-13',
    seven,
    128,
    'image-heavy',
    'verl-bucketing',
    256,
    128,
    21.63,
    186.269,
    76.725,
    91.113,
    88.703,
    347.586,
    90.853,
  ],
  ['CR-15', seven, 128, 'only-video', 'flexrl', 256, 64, 405.44, 6.973, 24.783, 5.229, 4.924, 41.885, 6.692],
  ['CR-15', seven, 128, 'only-video', 'ulysses-4', 256, 64, 50.67, 694.39, 149.507, 61.255, 60.59, 335.006, 63.407],
];

/** Table 2. */
export const table2: readonly StepRow[] = cells.map(row);

/** Table 1: seconds of update, reference, old, data loading and generation, and of the step; each with its printed ratio. */
export const table1 = [
  { method: 'verl-bucketing', seconds: [61.3, 51.3, 50.2, 375, 118.4, 656.2], ratios: [1, 1, 1, 1, 1, 1] },
  { method: 'verl-shadow', seconds: [24.3, 5, 25.3, 3.9, 64.1, 122.6], ratios: [2.52, 10.26, 1.99, 96.15, 1.85, 5.35] },
  {
    method: 'verl-flex-ulysses',
    seconds: [47.8, 50.1, 27.8, 375, 58.9, 559.6],
    ratios: [1.28, 1.02, 1.81, 1, 2.01, 1.17],
  },
  { method: 'flexrl', seconds: [9.5, 3.7, 4.9, 3.2, 64.4, 85.7], ratios: [6.45, 13.86, 10.24, 117.19, 1.84, 7.66] },
] as const;

/** Table 3: sequences of equal length that make 64K tokens, and milliseconds of attention. */
export const table3 = [
  [1, 182.9],
  [4, 46.6],
  [8, 24],
  [16, 12.7],
  [32, 7],
  [64, 4.3],
] as const;

/** Table 5: degree, tokens, milliseconds of an all-to-all on H200 and H800. */
export const table5 = [
  [2, 131_072, 9.97, 11.079],
  [2, 262_144, 23.401, 18.245],
  [2, 524_288, 52.472, 60.709],
  [4, 131_072, 6.547, 6.943],
  [4, 262_144, 16.107, 16.48],
  [4, 524_288, 47.361, 44.372],
  [8, 131_072, 3.501, 6.36],
  [8, 262_144, 8.513, 12.543],
  [8, 524_288, 22.462, 28.686],
  [8, 1_048_576, 64.878, 119.293],
  [16, 131_072, 7.871, 12.333],
  [16, 262_144, 14.639, 19.644],
  [16, 524_288, 36.554, 41.43],
  [16, 1_048_576, 68.558, 104.011],
  [32, 131_072, 6.355, 17.219],
  [32, 262_144, 11.03, 16.558],
  [32, 524_288, 24.15, 31.089],
  [32, 1_048_576, 48.356, 69.296],
] as const;
