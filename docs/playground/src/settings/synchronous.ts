/** Settings of the synchronous job. */
import { clusterJob, gpus, modelNames } from 'rollflex/sim';
import { choice, range, type SettingsOf } from './fields.ts';
import { ownOption, traceOptions } from './traces.ts';

/** The models of the paper, and the TP that each comes with. */
const paperModels = [
  ['qwen2.5-7b-8k', 'Qwen2.5-7B of RollPacker', '1'],
  ['qwen2.5-14b-16k', 'Qwen2.5-14B of RollPacker', '2'],
  ['qwen2.5-32b-32k', 'Qwen2.5-32B of RollPacker', '2'],
] as const;
/** The GPUs of the paper, which its models come with. */
const paperGpu = 'paper';

export const synchronousFields = {
  t: choice(
    'Response lengths',
    'CASTILLO: recorded responses; ServeGen: production traffic; RollPacker: drawn as in its Figures 2 and 12.',
    [...traceOptions, ['rollpacker', 'RollPacker: long tail'], ownOption],
    'deepseek-r1',
  ),
  m: choice<string>(
    'Model',
    'What a decode step, training and weight sync cost: as in RollPacker §6, or as follows from the size of an open model.',
    [...paperModels.map(([id, label]) => [id, label] as const), ...modelNames().map((one) => [one, one] as const)],
    'qwen2.5-7b-8k',
  ),
  u: choice<string>(
    'GPU',
    'H800 is that of RollPacker. With any other, costs follow from data sheets, and training is assumed.',
    [[paperGpu, 'H800'], ...gpus.map(({ id, label }) => [id, label] as const)],
    paperGpu,
  ),
  P: range('P, prompts a round', 'Prompts that a step trains on (P0).', { min: 2, max: 128, step: 1, usual: 8 }),
  R: range('R, responses a prompt', 'Responses of a prompt that are trained on (R0): the group size of GRPO.', {
    min: 1,
    max: 32,
    step: 1,
    usual: 8,
  }),
  etaP: range(
    'eta_P, prompt speculation',
    'A short round launches eta_P × P prompts; the first P that are complete end it.',
    {
      min: 1,
      max: 2,
      step: 0.01,
      usual: 1.25,
    },
  ),
  etaR: range(
    'eta_R, response speculation',
    'It launches eta_R × R responses of each; the first R that are complete are kept.',
    {
      min: 1,
      max: 2,
      step: 0.01,
      usual: 1.25,
    },
  ),
  g: range('GPUs', 'All of them roll out, and all of them train.', { min: 8, max: 64, step: 8, usual: 8 }),
  TP: choice(
    'TP, GPUs of an engine',
    'Tensor parallelism of the rollout. RollPacker starts from it and may change it.',
    [
      ['1', '1'],
      ['2', '2'],
      ['4', '4'],
      ['8', '8'],
    ],
    '1',
  ),
  cap: range('Longest response', 'Longer responses are cut there.', {
    min: 1024,
    max: 32_768,
    step: 1024,
    usual: 16_384,
    unit: 'tokens',
  }),
  up: choice(
    'RollPacker, up to',
    'How many of its mechanisms the third timeline has; each has those before it.',
    [
      ['rewards', 'rewards beside the rollout'],
      ['adaptive-tp', 'adaptive TP'],
      ['stream-training', 'stream training (all of it)'],
    ],
    'stream-training',
  ),
  ep: range(
    'Epochs',
    'Times that each prompt comes. Above 1 there is a fourth timeline: the lossless tail, which learns in the first.',
    {
      min: 1,
      max: 5,
      step: 1,
      usual: 1,
    },
  ),
  n: range('Steps', 'Steps of the baseline; the others train the same prompts. Best a multiple of 5 at eta 1.25.', {
    min: 1,
    max: 40,
    step: 1,
    usual: 5,
  }),
  s: range('Seeds', 'Repetitions with other draws. While you move a slider, the first alone is shown.', {
    min: 1,
    max: 5,
    step: 1,
    usual: 5,
  }),
};
export type SynchronousSettings = SettingsOf<typeof synchronousFields>;

/** What settings say of a cluster; undefined for a job of the paper. */
export function clusterOf({ m, u }: Pick<SynchronousSettings, 'm' | 'u'>): { model: string; gpu: string } | undefined {
  if (u === paperGpu && paperModels.some(([id]) => id === m)) return undefined;
  return { model: m, gpu: u === paperGpu ? 'h800-sxm' : u };
}

/** The TP that a model on a GPU comes with: another model, or GPU, brings its own. */
export function usualTp({ m, u, cap }: Pick<SynchronousSettings, 'm' | 'u' | 'cap'>): string {
  const cluster = clusterOf({ m, u });
  if (cluster === undefined) return paperModels.find(([id]) => id === m)![2];
  try {
    return String(Math.min(8, clusterJob({ ...cluster, capTokens: cap }).job.cost.gpus));
  } catch {
    // The simulation says why it does not fit.
    return '8';
  }
}
