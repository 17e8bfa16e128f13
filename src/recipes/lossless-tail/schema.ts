/** Configuration of lossless-tail: flat, so that each setting appears once; the configurations of the parts are derived from it. */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe/recipe.ts';
import { compositionConfig, compositionSettings } from '../../policies/round-composition/schema.ts';
import { admissionConfig, usualFactor } from '../../policies/speculative-admission/schema.ts';
import { checkOrder, orderConfig, orderSwitch } from '../tail-batching/selection.ts';
import { checkDivided, dividedAdmission, dividedSwitch } from './divided.ts';

// Responses beyond those that a prompt needs would be thrown away. Rounds are composed by length, not by domain.
const {
  speculation: _,
  promptSpeculation,
  responseSpeculation: _responses,
  partialRollout: _partial,
  maxStaleness,
  quotas: _quotas,
  ...ofAdmission
} = admissionConfig.shape;

const shape = z.strictObject({
  ...ofAdmission,
  maxStaleness: maxStaleness.describe(
    'Weight versions that a token may lag behind. 0: on policy, every round waits for all of its prompts. More: partial rollout, a round leaves its last prompts to the next ones, which go on from their tokens.',
  ),
  promptSpeculation: promptSpeculation.describe(
    `With \`maxStaleness\` above 0: prompts in a round over those that it trains on; ${usualFactor} if absent. Up to 2, no token becomes too old.`,
  ),
  ...compositionSettings,
  ...dividedSwitch,
  ...orderSwitch,
});

/** Derives the configuration of each part from the flat one. */
export function partConfigs(config: z.output<typeof shape>) {
  const { maxStaleness: most } = config;
  const isPartial = most > 0;
  const divided = config.dividedRollout === undefined ? {} : dividedAdmission;
  const factor = isPartial ? (config.promptSpeculation ?? usualFactor) : 1;
  return {
    composition: { ...settingsOf(config, compositionConfig.shape), promptSpeculation: factor },
    admission: {
      ...settingsOf(config, ofAdmission),
      ...{ promptSpeculation: factor, responseSpeculation: 1, partialRollout: isPartial, maxStaleness: most },
      ...divided,
    },
    chunks: config.dividedRollout ?? {},
    selection: orderConfig(config),
  };
}

export const losslessTailConfig = shape.superRefine((config, context) => {
  if (config.maxStaleness === 0 && (config.promptSpeculation ?? 1) > 1) {
    const expected =
      '`maxStaleness` of 1 or more beside `promptSpeculation`: prompts that are left over go on with newer weights';
    context.addIssue({ code: 'custom', path: ['promptSpeculation'], message: expected });
  }
  checkDivided(config, (path, message) => context.addIssue({ code: 'custom', path: [path], message }));
  checkOrder(config, (path, message) => context.addIssue({ code: 'custom', path: path.split('.'), message }));
  const { error } = admissionConfig.safeParse(partConfigs(config).admission);
  for (const { path, message } of error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
});
