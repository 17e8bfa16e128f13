/** Configuration of rolloutpipe: flat, so that each setting appears once; the configurations of the parts are derived from it. */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe/recipe.ts';
import type { RolloutPipeConfig } from '../../generated/settings/rolloutpipe.ts';
import { pipeliningConfig } from '../../policies/complete-group-pipelining/schema.ts';
import { frontierConfig } from '../../policies/frontier-group-dispatch/schema.ts';
import { idPrefix } from '../../schemas/units.ts';

const { width, startRequests, starvedShare, awaitRetries } = frontierConfig.shape;

const shape = pipeliningConfig.safeExtend({
  frontier: z
    .boolean()
    .default(true)
    .describe('Whether requests are admitted by groups, at most `width` at once; `false`: every request at once.'),
  width: width
    .optional()
    .describe('F_w: most groups in service at once; `auto`: planned anew for every round. Required with `frontier`.'),
  startRequests,
  starvedShare,
  awaitRetries,
  idPrefix: idPrefix.default('').describe('Prefix of every id; new after each restart of the host.'),
});

export const rolloutPipeConfig = shape.superRefine((config, context) => {
  if (!config.frontier || config.width !== undefined) return;
  context.addIssue({ code: 'custom', path: ['width'], message: 'expected a width of the frontier, or `auto`' });
});

/** Derives the configuration of each part from the flat one. */
export function partConfigs(config: RolloutPipeConfig): Readonly<Record<string, Record<string, unknown>>> {
  const { responsesPerPrompt, globalBatchSamples, otherVersions } = config;
  return {
    frontier: {
      ...settingsOf(config, frontierConfig.shape),
      groupsPerUpdate: globalBatchSamples / responsesPerPrompt,
      ...(config.frontier ? undefined : { width: Number.MAX_SAFE_INTEGER }),
    },
    collection: { responsesPerPrompt, otherVersions },
    // The collection of rounds asks again, not the assembly.
    assembly: { askAgain: false },
    // The recipe refuses other versions when they come in: an event inside the recipe cannot be refused.
    pipelining: { ...settingsOf(config, pipeliningConfig.shape), otherVersions: 'drop' },
  };
}
