/**
 * Configuration of agentic-rollout: flat, so that each setting appears once; the configurations of the parts are derived from it.
 */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe/recipe.ts';
import { checkBounds, slotSettings } from '../../policies/environment-slots/schema.ts';
import { queueSettings } from '../../policies/long-prompt-queue/schema.ts';
import { programSettings } from '../../policies/program-scheduling/schema.ts';
import { compositionConfig, compositionSettings } from '../../policies/round-composition/schema.ts';
import { admissionConfig } from '../../policies/speculative-admission/schema.ts';
import { environment } from '../../schemas/units.ts';
import { domainsOf } from '../tail-batching/joined.ts';

// Requests have no engine, because each turn is routed. Trajectories continue when the host restarts.
const { placement: _, maxInFlightPerEngine: _most, onRestart: _restart, ...ofAdmission } = admissionConfig.shape;

const shape = z.strictObject({
  ...ofAdmission,
  composition: z
    .boolean()
    .default(false)
    .describe(
      'Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in `tail-batching`.',
    ),
  environment: environment
    .optional()
    .describe(
      'Kind of the environment that every trajectory needs; it is asked for when the trajectory is launched. Absent: none, or the host asks itself, by `slot.requested`.',
    ),
  ...queueSettings,
  ...compositionSettings,
  ...programSettings,
  ...slotSettings,
});
type Settings = z.output<typeof shape>;

/** Derives the configuration of each part from the flat one. */
export function partConfigs(config: Settings): Readonly<Record<string, Record<string, unknown>>> {
  const { promptsPerRound, promptSpeculation, idPrefix, composition } = config;
  const none = composition ? { speculation: 'fixed', promptSpeculation: 1, responseSpeculation: 1 } : {};
  return {
    queue: {
      promptsPerRound,
      promptSpeculation: composition ? 1 : promptSpeculation,
      ...settingsOf(config, queueSettings),
      maxStaleness: config.partialRollout ? config.maxStaleness : 0,
      domains: domainsOf(config),
    },
    composition: { ...settingsOf(config, compositionConfig.shape), promptSpeculation: 1 },
    admission: { ...settingsOf(config, ofAdmission), ...none, placement: 'host', onRestart: 'continue' },
    programs: settingsOf(config, programSettings),
    // Another environment is another try of the trajectory, and for the admission to decide.
    slots: { ...settingsOf(config, slotSettings), retries: 0, idPrefix },
  };
}

export const agenticRolloutConfig = shape.superRefine((config, context) => {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  checkBounds(config, context);
  const { error } = admissionConfig.safeParse(partConfigs(config).admission);
  for (const { path, message } of error?.issues ?? []) refuse(path.join('.'), message);
  if (config.composition && config.quotas !== undefined) {
    refuse('quotas', 'no `quotas` beside `composition`: rounds are composed by length, not by domain');
  }
  if (config.environment !== undefined && !Object.hasOwn(config.slots, config.environment)) {
    refuse('slots', `how many environments of kind ${config.environment} there may be`);
  }
});
