/**
 * Configuration of tail-pipelining: flat, so that each setting appears once; the configurations of the parts are derived from it.
 */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe/recipe.ts';
import { pipeliningConfig } from '../../policies/complete-group-pipelining/schema.ts';
import { frontierConfig } from '../../policies/frontier-group-dispatch/schema.ts';
import { queueSettings } from '../../policies/long-prompt-queue/schema.ts';
import { admissionConfig } from '../../policies/speculative-admission/schema.ts';
import { domainsOf } from '../tail-batching/joined.ts';

const { globalBatchSamples, maxTokensPerGpu, pipelining, incompleteGroups, ...training } = pipeliningConfig.shape;
const { baseline, normalization, std, epsilon, singleResponse } = training;
const { width, startRequests, starvedShare } = frontierConfig.shape;

const shape = admissionConfig.safeExtend({
  maxStaleness: z.literal(0).default(0).describe('Every sample is of the weights of its round.'),
  partialRollout: z.literal(false).default(false).describe('Deferred prompts begin anew: their tokens would be stale.'),
  onRestart: z.literal('launch').optional().describe('Requests are launched anew when the host restarts.'),
  ...queueSettings,
  globalBatchSamples,
  maxTokensPerGpu,
  pipelining,
  incompleteGroups,
  baseline,
  normalization,
  std,
  epsilon,
  singleResponse,
  frontier: z
    .boolean()
    .default(false)
    .describe('Whether launches wait for `request.admit`, groups of at most `width` prompts at once.'),
  width: width
    .optional()
    .describe('F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`.'),
  startRequests,
  starvedShare,
});
type Settings = z.output<typeof shape>;

/** Settings that make no sense if a launched request then waits for admission, each with what is expected instead. */
const notWithFrontier = {
  placement: 'no engine chosen before a request is admitted: `placement: host` with `frontier`',
  maxInFlight: 'no limit of launches that wait for admission: `width` is the limit with `frontier`',
  responseTimeoutSeconds: 'no time limit that begins before a request is admitted, with `frontier`',
} as const;

export const tailPipeliningConfig = shape.superRefine((config, context) => {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const { responsesPerPrompt: perPrompt } = config;
  if (config.globalBatchSamples % perPrompt !== 0) {
    refuse('globalBatchSamples', `expected a multiple of responsesPerPrompt, ${perPrompt}`);
  }
  if (!config.frontier) return;
  if (config.width === undefined) refuse('width', 'expected a width of the frontier, or `auto`');
  for (const [path, message] of Object.entries(notWithFrontier)) {
    const value = config[path as keyof typeof notWithFrontier];
    if (value !== undefined && value !== 'host') refuse(path, message);
  }
});

/** Derives the configuration of each part from the flat one. */
export function partConfigs(config: Settings): Readonly<Record<string, Record<string, unknown>>> {
  const { promptsPerRound, promptSpeculation, responsesPerPrompt } = config;
  return {
    queue: { promptsPerRound, promptSpeculation, ...settingsOf(config, queueSettings), domains: domainsOf(config) },
    admission: settingsOf(config, admissionConfig.shape),
    frontier: {
      ...settingsOf(config, frontierConfig.shape),
      // Without a frontier the width has no effect.
      width: config.width ?? 1,
      groupsPerUpdate: config.globalBatchSamples / responsesPerPrompt,
      // The admission makes retries: a failed request keeps its place until another request replaces it.
      awaitRetries: true,
      // A request that the admission has aborted is over for the frontier, even before an engine has stopped it.
      closeAtOnce: true,
    },
    // With this filter, all responses without a reward are in the admission, which asks for their rewards.
    assembly: { askAgain: config.filter !== 'zero-variance' },
    pipelining: {
      ...settingsOf(config, pipeliningConfig.shape),
      // The admission has already filtered and replaced groups.
      filter: 'none',
      // An event inside the recipe could not be refused.
      otherVersions: 'drop',
    },
  };
}
