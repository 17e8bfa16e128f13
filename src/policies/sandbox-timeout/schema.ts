/** Configuration of sandbox-timeout. */
import { z } from 'zod';
import type { TimeoutRule } from '../../core/rollout/adaptive-timeout.ts';
import type { SandboxTimeoutConfig } from '../../generated/settings/sandbox-timeout.ts';
import { count, positiveCount, positiveSeconds, seconds } from '../../schemas/units.ts';

/** Settings of the timeouts; a recipe adds them to its own. */
export const timeoutSettings = {
  timeoutFactor: z
    .number()
    .min(1)
    .max(1000)
    .default(4)
    .describe('λ: a run may take this many times the longest correct run of its test case. The paper has 1.5.'),
  minTimeoutSeconds: seconds.default(2).describe('Tmin: no timeout is shorter, in seconds.'),
  maxTimeoutSeconds: positiveSeconds
    .max(86_400)
    .default(30)
    .describe(
      'Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a day.',
    ),
  exploreEvery: count
    .default(16)
    .describe('Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none.'),
  maxTestCases: positiveCount
    .max(10_000_000)
    .default(100_000)
    .describe('Most test cases whose anchors are kept; the least recently used leave.'),
  historyRuns: positiveCount
    .max(1_000_000)
    .default(2048)
    .describe('Most runs that reports are made from; the oldest leave.'),
};

export const timeoutConfig = z
  .strictObject(timeoutSettings)
  .refine((config) => config.minTimeoutSeconds <= config.maxTimeoutSeconds, {
    message: 'a minimum that is not above maxTimeoutSeconds',
    path: ['minTimeoutSeconds'],
  });

/** Returns how the timeouts follow from anchors. */
export const ruleOf = (config: SandboxTimeoutConfig): TimeoutRule => ({
  factor: config.timeoutFactor,
  minSeconds: config.minTimeoutSeconds,
  maxSeconds: config.maxTimeoutSeconds,
  exploreEvery: config.exploreEvery,
});
