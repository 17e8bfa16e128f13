/** Runs of a policy that end with a host without memory. */

import type { Choices } from '../../../src/core/choices.ts';
import type { AnyEvent, AnyPolicyDefinition } from '../../../src/core/definition.ts';
import { create } from '../../../src/core/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { arbitraryOf } from '../../../src/testing/tested.ts';
import { ForgetfulHost } from './forgetful.ts';

/** Without GPUs that move to the trainer: that is another host's. */
export const rolloutOnly = (id: string, config: Record<string, unknown>) =>
  id === 'rollpacker' ? { ...config, streamTraining: false } : config;

/** Any events, then a host that has forgotten them all. */
export function playForgetful(
  definition: AnyPolicyDefinition,
  config: Record<string, unknown>,
  choices: Choices,
): number {
  const parsed = definition.config.parse(config);
  const shadow = definition.init(parsed);
  let policy = create(definition, config);
  let weightVersion = 0;
  const length = choices.below(120);
  for (let index = 0; index < length; index += 1) {
    const event: AnyEvent = arbitraryOf(definition)(shadow, choices);
    try {
      policy.send(event);
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      continue;
    }
    definition.apply(shadow, event, { at: policy.at, emit: () => undefined });
    weightVersion = Math.max(weightVersion, (event as { weightVersion?: number }).weightVersion ?? 0);
  }
  policy = create(definition, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
  const host = new ForgetfulHost(definition, parsed, policy as never, choices, { weightVersion, name: 'new-' });
  host.finish();
  return length + host.sent;
}

/** Settings of the admission, as they come. */
export function anySettings(choices: Choices): Record<string, unknown> {
  const one = <T>(...list: T[]): T => list[choices.below(list.length)]!;
  const promptsPerRound = 1 + choices.below(3);
  const maxStaleness = choices.below(3);
  const code = 1 + choices.below(promptsPerRound);
  return {
    promptsPerRound,
    responsesPerPrompt: 1 + choices.below(3),
    promptSpeculation: one(1, 1.5, 2),
    responseSpeculation: one(1, 1.5, 2),
    placement: one('host', 'policy'),
    filter: one('none', 'zero-variance', 'host'),
    maxStaleness,
    partialRollout: maxStaleness > 0 && choices.below(2) === 0,
    allowOverlap: choices.below(2) === 0,
    retry: { infrastructure: choices.below(3), data: choices.below(2), environment: choices.below(2) },
    ...(choices.below(3) === 0 ? { maxInFlight: 1 + choices.below(5) } : {}),
    ...(choices.below(3) === 0 ? { responseTimeoutSeconds: 1 + choices.below(30) } : {}),
    ...(choices.below(3) === 0 && code < promptsPerRound ? { quotas: { code, math: promptsPerRound - code } } : {}),
  };
}
