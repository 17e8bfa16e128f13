/**
 * The policies that each trainer's adapter can carry out, and the lines that switch them on. This is the only place with these
 * facts: the documentation prints this table.
 */
import { scaledCount } from '../../core/rollout/prompts.ts';
import type { Levers } from '../sweep/settings/levers.ts';
import type { SynchronousSettings } from '../sweep/settings/settings.ts';

/** The settings to switch on, as numbers of the job. */
export interface Chosen
  extends Pick<SynchronousSettings, 'promptSpeculation' | 'responseSpeculation' | 'maxStaleness' | 'windowRounds'> {
  /** P0, prompts of a round. */
  readonly promptsPerRound: number;
}

/** The lossless tail to switch on, as numbers of the job. */
export interface ChosenWindow extends Partial<Pick<SynchronousSettings, 'maxStaleness' | 'promptSpeculation'>> {
  /** W, rounds of prompts that are read ahead. */
  readonly windowRounds: number;
  /** R0, responses of a prompt. */
  readonly responsesPerPrompt: number;
}

/** A trainer, or the user's own host. */
export interface TrainerFacts {
  /** Id of the trainer on the command line. */
  readonly id: TrainerId;
  /** Name of the trainer for readers. */
  readonly label: string;
  /** The class or function of the adapter in the Python package; null if there is none. */
  readonly adapter: string | null;
  /** The page of the documentation, from the root of the repository, or a section of one. */
  readonly page: string;
  /** The levers that the adapter can carry out. */
  readonly levers: Levers;
  /** A phrase with the number of versions by which the generating weights may be behind. */
  readonly staleness: string;
  /** Returns the lines that switch the settings on; none if the user copies the settings themselves. */
  readonly paste: (chosen: Chosen) => readonly string[];
  /** Returns the lines that switch the lossless tail on; none if the user copies the settings themselves. */
  readonly pasteLossless: (chosen: ChosenWindow) => readonly string[];
}

/** Ids of the trainers. */
export const trainerIds = ['verl', 'slime', 'roll', 'nemo-rl', 'openrlhf', 'trl', 'own'] as const;
/** Id of a trainer. */
export type TrainerId = (typeof trainerIds)[number];

/** Levers of a hook that sees prompt groups after the trainer has dispatched them: it can neither stop nor start a response. */
const groupsOnly: Levers = {
  responses: false,
  aborts: false,
  resumes: false,
  rewards: false,
  scaleDown: false,
  tp: false,
};
/** Levers of a loop that launches and aborts single requests; the trainer keeps control of training, rewards and parallelism. */
const requests: Levers = { ...groupsOnly, responses: true, aborts: true };
const everything: Levers = { responses: true, aborts: true, resumes: true, rewards: true, scaleDown: true, tp: true };

const factor = (value: number): string => `${Number(value.toFixed(4))}`;
const sameWeights = 'none';
const tailBatching = ({ promptSpeculation, responseSpeculation }: Chosen): string =>
  `promptSpeculation: ${factor(promptSpeculation)}, responseSpeculation: ${factor(responseSpeculation)}`;
/** Settings of the lossless tail, in the order of the data if no window is chosen. */
const losslessTail = ({
  windowRounds = 1,
  maxStaleness,
  promptSpeculation = 1,
}: Partial<Omit<ChosenWindow, 'responsesPerPrompt'>>): string => {
  const partial =
    maxStaleness === undefined
      ? ''
      : `, maxStaleness: ${maxStaleness}, promptSpeculation: ${factor(promptSpeculation)}`;
  return `{ windowRounds: ${windowRounds}${partial} }`;
};
const slimeHooks = [
  '--rollout-function-path rollflex.adapters.slime.generate_rollout',
  '--data-source-path rollflex.adapters.slime.RollflexDataSource',
  '--custom-config-path rollflex.yaml',
  '# rollflex.yaml',
];
const ownHost = 'no adapter: a host of your own, over rollflex.rollout.Rollout (Python)';
const slimeLossless = (chosen: Parameters<typeof losslessTail>[0]): string[] => [
  ...slimeHooks,
  'rollflex_policy: lossless-tail',
  `rollflex: ${losslessTail(chosen)}`,
];
const ownLossless = (chosen: Parameters<typeof losslessTail>[0]): string[] =>
  chosen.maxStaleness === undefined
    ? [ownHost, `policy lossless-tail: ${losslessTail(chosen)}`]
    : [ownHost, 'policy lossless-tail:', `  ${losslessTail(chosen)}`];
const hostOfOnesOwn = (chosen: Chosen): string[] =>
  chosen.maxStaleness === undefined
    ? [ownHost, `policy tail-batching: { ${tailBatching(chosen)} }`]
    : ownLossless(chosen);

/** The trainers; those with an adapter come first. */
export const trainers: readonly TrainerFacts[] = Object.freeze([
  {
    id: 'verl',
    label: 'verl',
    adapter: 'rollflex.adapters.verl.TailBatchingSampler',
    page: 'docs/adapters/verl.md',
    levers: groupsOnly,
    staleness: 'at most 5 versions: groups run on',
    paste: ({ promptSpeculation }) => [
      'trainer.v1.trainer_mode=colocate_async',
      'trainer.v1.colocate_async.num_warmup_batches=0',
      'trainer.v1.sampler.max_off_policy_threshold=5',
      'trainer.v1.sampler.custom_sampler.path=pkg://rollflex.adapters.verl',
      'trainer.v1.sampler.custom_sampler.name=TailBatchingSampler',
      `+trainer.v1.sampler.sampler_kwargs.prompt_speculation=${factor(promptSpeculation)}`,
    ],
    pasteLossless: ({ windowRounds, responsesPerPrompt }) => [
      'trainer.v1.trainer_mode=sync',
      'trainer.v1.sampler.custom_sampler.path=pkg://rollflex.adapters.verl_lossless',
      'trainer.v1.sampler.custom_sampler.name=LosslessTailSampler',
      'data.custom_cls.path=pkg://rollflex.adapters.verl_lossless',
      'data.custom_cls.name=LosslessTailDataset',
      'data.dataloader_num_workers=0',
      `+data.rollflex.responses_per_prompt=${responsesPerPrompt}`,
      `+data.rollflex.settings.windowRounds=${windowRounds}`,
    ],
  },
  {
    id: 'slime',
    label: 'slime',
    adapter: 'rollflex.adapters.slime.generate_rollout',
    page: 'docs/adapters/slime.md',
    levers: { ...requests, resumes: true },
    staleness: `${sameWeights} (--partial-rollout: 1 version)`,
    paste: (chosen) =>
      chosen.maxStaleness === undefined
        ? [...slimeHooks, `rollflex: { ${tailBatching(chosen)} }`]
        : slimeLossless(chosen),
    pasteLossless: slimeLossless,
  },
  {
    id: 'roll',
    label: 'ROLL',
    adapter: 'rollflex.adapters.roll.TailBatchingLoop',
    page: 'docs/adapters/roll.md',
    levers: requests,
    staleness: `${sameWeights} (or async_generation_ratio)`,
    paste: ({ promptSpeculation, responseSpeculation, promptsPerRound }) => [
      'my_rollout.py: class Loop(TailBatchingLoop):',
      `  prompt_speculation, response_speculation = ${factor(promptSpeculation)}, ${factor(responseSpeculation)}`,
      'user_defined_rollout_loop_cls: my_rollout.Loop',
      'is_num_return_sequences_expand: true',
      'is_use_additional_prompts: true',
      `max_additional_running_prompts: ${scaledCount(promptSpeculation, promptsPerRound)}`,
    ],
    pasteLossless: ({ windowRounds }) => [
      'my_rollout.py: class Loop(TailBatchingLoop):',
      `  recipe, policy = "lossless-tail", {"windowRounds": ${windowRounds}}`,
      '  state_dir = "/checkpoints/rollflex"',
      'user_defined_rollout_loop_cls: my_rollout.Loop',
      'is_num_return_sequences_expand: true',
    ],
  },
  {
    id: 'nemo-rl',
    label: 'NeMo-RL',
    adapter: 'rollflex.adapters.nemo_rl.TailBatchingSampler',
    page: 'docs/adapters/nemo-rl.md',
    levers: groupsOnly,
    staleness: 'at most 6 versions: groups run on',
    paste: ({ promptSpeculation }) => [
      'async_rl.sampler.name: custom',
      'async_rl.sampler.target: rollflex.adapters.nemo_rl:TailBatchingSampler',
      'async_rl.sampler.max_staleness_versions: 6',
      `async_rl.sampler.prompt_speculation: ${factor(promptSpeculation)}`,
      'loss_fn.use_importance_sampling_correction: true',
    ],
    pasteLossless: ({ windowRounds, responsesPerPrompt }) => [
      'data.train.dataset_name: rollflex.adapters.nemo_rl_lossless.NAME  # of yours',
      'data.num_workers: 0',
      'async_rl.sampler.name: custom',
      'async_rl.sampler.target: rollflex.adapters.nemo_rl_lossless:LosslessTailSampler',
      'async_rl.sampler.max_lookahead_versions: 0',
      `async_rl.sampler.responses_per_prompt: ${responsesPerPrompt}`,
      `async_rl.sampler.settings.windowRounds: ${windowRounds}`,
      'async_rl.sampler.state_dir: /checkpoints/rollflex',
    ],
  },
  {
    id: 'trl',
    label: 'TRL',
    adapter: 'rollflex.adapters.trl.TailBatchingWorker',
    page: 'docs/adapters/trl.md',
    levers: requests,
    staleness: 'at most max_staleness: groups run',
    paste: ({ promptSpeculation, responseSpeculation }) => [
      'policy = {',
      `    "promptSpeculation": ${factor(promptSpeculation)}, "responseSpeculation": ${factor(responseSpeculation)}`,
      '}',
      'worker = TailBatchingWorker(args, …, policy=policy)',
      'AsyncGRPOTrainer(…, rollout_worker=worker)',
    ],
    pasteLossless: ({ windowRounds }) => [
      `policy = {"windowRounds": ${windowRounds}}`,
      'worker = TailBatchingWorker(args, …, recipe="lossless-tail", policy=policy)',
      'AsyncGRPOTrainer(…, rollout_worker=worker)',
    ],
  },
  {
    id: 'openrlhf',
    label: 'OpenRLHF',
    adapter: null,
    page: 'docs/adapters/index.md#openrlhf',
    levers: { ...requests, resumes: true },
    staleness: sameWeights,
    paste: hostOfOnesOwn,
    pasteLossless: ownLossless,
  },
  {
    id: 'own',
    label: 'a host of your own',
    adapter: null,
    page: 'docs/embedding.md',
    levers: everything,
    staleness: sameWeights,
    paste: () => [],
    pasteLossless: () => [],
  },
] satisfies TrainerFacts[]);

/** Returns a trainer by its id. */
export const trainerOf = (id: TrainerId): TrainerFacts => trainers.find((one) => one.id === id)!;

/** Returns the trainer that writes a format of {@link dumpReaders}; `own` for any other format. */
export const trainerOfReader = (reader: string): TrainerId =>
  trainerIds.find((id) => id === reader.replace(/-board$/, '')) ?? 'own';
