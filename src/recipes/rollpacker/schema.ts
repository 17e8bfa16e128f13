/** Configuration of rollpacker: flat, so that each setting appears once; the configurations of the parts are derived from it. */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe/recipe.ts';
import { judgeOffloadInput } from '../../planners/judge-offload/schema.ts';
import { tpConfig } from '../../policies/adaptive-tp/schema.ts';
import { scaleDownSettings } from '../../policies/gpu-scale-down/schema.ts';
import { queueSettings } from '../../policies/long-prompt-queue/schema.ts';
import { rewardDispatchConfig } from '../../policies/reward-dispatch/schema.ts';
import { compositionConfig, compositionSettings } from '../../policies/round-composition/schema.ts';
import { timeoutSettings } from '../../policies/sandbox-timeout/schema.ts';
import { admissionConfig, usualFactor } from '../../policies/speculative-admission/schema.ts';
import { streamTrainingConfig } from '../../policies/stream-training/schema.ts';
import { domainsOf } from '../tail-batching/joined.ts';

const { servers, kvHeads, modelBytes, gpuMemoryBytes, memoryUtilization, experts, minTp, maxTp, startTp, ...tp } =
  tpConfig.shape;
const { defaultKind, kindByDomain, budgetSeconds, retry, onTimeout, timeoutReward } = rewardDispatchConfig.shape;
const { replicas, groupsPerRound: _, idPrefix: _id, ...training } = streamTrainingConfig.shape;
const on = (text: string) => z.boolean().default(true).describe(text);

/** Settings of the recipe beside those of the admission. */
const settings = {
  tailBatching: on('Speculation in short rounds, and long rounds for what they defer. Off: every round waits for all.'),
  composition: z
    .boolean()
    .default(false)
    .describe(
      'Rounds are composed by predicted length, as in `lossless-tail`; not with `tailBatching`. With `partialRollout`, they have `promptSpeculation` times their prompts. Off: the order of the data.',
    ),
  adaptiveTp: on(
    'The parallelism of the engines follows their preemptions. Off: TP stays at `startTp`, or `minTp`, and EP as it is.',
  ),
  adaptiveTimeout: on('Code in sandboxes is stopped early. Off: only at `rewardBudgetSeconds.sandbox`.'),
  asyncReward: on('Rewards are computed beside the rollout. Off: when the round is complete.'),
  streamTraining: on('GPUs are released during the rollout and train completed groups. Off: training comes after it.'),
  judgeOffload: z
    .boolean()
    .default(false)
    .describe('A judge shares the GPUs with the actor, laid out by `judge-offload`. Off: it has GPUs of its own.'),
  judge: judgeOffloadInput
    .optional()
    .describe('The judge, for `judgeOffload`; its `sequenceTokens` is the greatest length that it is ever given.'),
  placement: z.literal('policy').default('policy').describe('The recipe knows the engines, and places all requests.'),
  onRestart: z.literal('launch').optional().describe('Requests are launched anew when the host restarts.'),
  ...queueSettings,
  ...compositionSettings,
  servers,
  kvHeads,
  modelBytes,
  gpuMemoryBytes,
  memoryUtilization,
  kvBytesPerToken: z.number().positive().describe('Bytes of KV cache of one token, over all GPUs of an engine.'),
  maxResponseTokens: scaleDownSettings.maxResponseTokens,
  experts,
  minTp,
  maxTp,
  startTp,
  expectedWorkload: tp.expectedWorkload,
  profile: tp.profile,
  ...timeoutSettings,
  defaultRewardKind: defaultKind,
  rewardKindByDomain: kindByDomain,
  rewardBudgetSeconds: budgetSeconds,
  rewardRetry: retry,
  onRewardTimeout: onTimeout,
  timeoutReward,
  trainingReplicas: replicas,
  ...training,
  scaleDownTrigger: scaleDownSettings.trigger,
  kvQuantile: scaleDownSettings.quantile,
};

const shape = admissionConfig.safeExtend(settings);
type Settings = z.output<typeof shape>;

/** Settings that adaptive-tp takes unchanged. */
const tpSettings = {
  ...{ servers, kvHeads, modelBytes, gpuMemoryBytes, memoryUtilization, experts },
  ...{ minTp, maxTp, startTp, expectedWorkload: tp.expectedWorkload, profile: tp.profile },
};

/** Returns the TP degree for both kinds of round if the degree does not adapt. */
function fixedTp({ startTp: start, minTp: least }: Pick<Settings, 'startTp' | 'minTp'>): number {
  return start.short ?? start.long ?? least;
}

/** Derives the configuration of each part from the flat one. */
export function partConfigs(config: Settings): Readonly<Record<string, Record<string, unknown>>> {
  const { promptsPerRound, responsesPerPrompt, idPrefix, maxResponseTokens, kvBytesPerToken } = config;
  // Prompts that a composed round leaves over continue in later rounds.
  const more = config.composition && config.partialRollout ? (config.promptSpeculation ?? usualFactor) : 1;
  const none = config.tailBatching ? {} : { speculation: 'fixed', promptSpeculation: more, responseSpeculation: 1 };
  // Without experts, EP is left out.
  const fixed = { minTp: fixedTp(config), maxTp: fixedTp(config), startTp: {}, experts: undefined };
  const degree = config.adaptiveTp ? {} : fixed;
  return {
    queue: {
      promptsPerRound,
      promptSpeculation: config.tailBatching ? config.promptSpeculation : 1,
      ...settingsOf(config, queueSettings),
      maxStaleness: config.partialRollout ? config.maxStaleness : 0,
      domains: domainsOf(config),
    },
    composition: { ...settingsOf(config, compositionConfig.shape), promptSpeculation: more },
    admission: { ...settingsOf(config, admissionConfig.shape), ...none },
    tp: {
      ...settingsOf(config, tpSettings),
      sequenceBytes: maxResponseTokens * kvBytesPerToken,
      ...degree,
    },
    judge: config.judgeOffload ? { judge: config.judge } : {},
    timeouts: settingsOf(config, timeoutSettings),
    rewards: {
      defaultKind: config.defaultRewardKind,
      kindByDomain: config.rewardKindByDomain,
      budgetSeconds: config.rewardBudgetSeconds,
      retry: config.rewardRetry,
      onTimeout: config.onRewardTimeout,
      timeoutReward: config.timeoutReward,
      // No bound is needed here: the admission bounds its prompts. With a bound, the queue could refuse an event inside the recipe.
      maxQueued: 1_000_000_000,
      idPrefix,
    },
    // reward-dispatch computes lost rewards again, so the assembly need not ask for them.
    assembly: { askAgain: false },
    scaleDown: {
      promptsPerRound,
      responsesPerPrompt,
      maxResponseTokens,
      communicationGroups: config.trainingReplicas.map(({ gpuIds }) => gpuIds),
      trigger: config.scaleDownTrigger,
      quantile: config.kvQuantile,
    },
    training: {
      ...settingsOf(config, training),
      replicas: config.trainingReplicas,
      groupsPerRound: promptsPerRound,
      idPrefix,
    },
  };
}

export const rollpackerConfig = shape.superRefine((config, context) => {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (config.composition && config.tailBatching) {
    refuse('tailBatching', '`tailBatching` off beside `composition`: rounds are composed in one way or in the other');
  }
  if (config.composition && config.quotas !== undefined) {
    refuse('quotas', 'no `quotas` beside `composition`: rounds are composed by length, not by domain');
  }
  if (config.filter === 'zero-variance' && !config.asyncReward) {
    refuse('asyncReward', 'rewards beside the rollout: a filter needs them before the round is complete');
  }
  const rollout = new Set(config.servers.flatMap(({ gpuIds }) => gpuIds));
  const other = config.trainingReplicas.flatMap(({ gpuIds }) => gpuIds).find((gpu) => !rollout.has(gpu));
  if (config.streamTraining && other !== undefined) {
    refuse('trainingReplicas', `GPUs of \`servers\` alone with \`streamTraining\`, ${other} is none`);
  }
  if (config.adaptiveTp && config.maxStaleness > 0 && !config.partialRollout) {
    const expected = '`adaptiveTp` off, or `partialRollout`, beside `maxStaleness` above 0';
    refuse('adaptiveTp', `${expected}: engines cannot change under prompts that run on into the next round`);
  }
  if (config.judgeOffload !== (config.judge !== undefined)) {
    refuse('judge', 'a judge with `judgeOffload`, and only with it');
  }
});
