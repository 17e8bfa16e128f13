/** Configuration of lossless-tail: flat, each setting once; the parts are configured from it. */
import { z } from 'zod';
import { settingsOf } from '../../core/recipe.ts';
import { compositionConfig, compositionSettings } from '../../policies/round-composition/schema.ts';
import { admissionConfig } from '../../policies/speculative-admission/schema.ts';
import { checkDivided, dividedAdmission, dividedSwitch } from './divided.ts';

// Without over-provisioning no prompt is left over in a round, so that no prompt is deferred, carried or resumed. Rounds are composed
// by length, not by domain.
const {
  speculation: _,
  promptSpeculation: _prompts,
  responseSpeculation: _responses,
  partialRollout: _partial,
  maxStaleness: _staleness,
  quotas: _quotas,
  ...ofAdmission
} = admissionConfig.shape;

const shape = z.strictObject({ ...ofAdmission, ...compositionSettings, ...dividedSwitch });

/** Returns the configuration of each part. */
export function partConfigs(config: z.output<typeof shape>) {
  const divided = config.dividedRollout === undefined ? {} : dividedAdmission;
  return {
    composition: settingsOf(config, compositionConfig.shape),
    admission: { ...settingsOf(config, ofAdmission), promptSpeculation: 1, responseSpeculation: 1, ...divided },
    chunks: config.dividedRollout ?? {},
  };
}

/** Schema of the configuration. */
export const losslessTailConfig = shape.superRefine((config, context) => {
  checkDivided(config, (path, message) => context.addIssue({ code: 'custom', path: [path], message }));
  const { error } = admissionConfig.safeParse(partConfigs(config).admission);
  for (const { path, message } of error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
});
