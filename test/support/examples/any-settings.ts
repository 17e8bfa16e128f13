/** Configurations of speculative-admission and tail-batching, drawn from choices. */
import type { Choices } from '../../../src/core/generators/choices.ts';

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
