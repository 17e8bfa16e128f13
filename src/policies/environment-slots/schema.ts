/** Configuration of environment-slots. */
import { z } from 'zod';
import type { TimeoutRule } from '../../core/rollout/adaptive-timeout.ts';
import type { EnvironmentSlotsConfig } from '../../generated/settings/environment-slots.ts';
import { count, environment, idPrefix, positiveCount, positiveSeconds, seconds } from '../../schemas/units.ts';

/** Most kinds of environments at once. */
export const mostKinds = 4096;

/** Settings of the environments; a recipe adds them to its own. */
export const slotSettings = {
  slots: z
    .record(environment, count)
    .default({})
    .refine((slots) => Object.keys(slots).length <= mostKinds, `expected at most ${mostKinds} kinds`)
    .describe('Most environments of each kind at the start; `slots.changed` replaces them.'),
  toolTimeoutFactor: z
    .number()
    .min(1)
    .max(1000)
    .default(4)
    .describe(
      'λ: a tool may take this many times its longest answer so far, and a start as many times the longest start.',
    ),
  minToolTimeoutSeconds: seconds.default(60).describe('Tmin: no tool, and no start, is given less, in seconds.'),
  maxToolTimeoutSeconds: positiveSeconds
    .max(86_400)
    .default(1800)
    .describe(
      'Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a day.',
    ),
  toolExploreEvery: count
    .default(16)
    .describe('Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none.'),
  maxStartSeconds: positiveSeconds
    .max(86_400)
    .default(600)
    .describe('The most that the start of an environment may take, in seconds, > 0 and at most a day.'),
  endGraceSeconds: positiveSeconds
    .default(60)
    .describe('Seconds until an environment whose end is not confirmed counts as gone.'),
  maxIdleSeconds: positiveSeconds
    .default(600)
    .describe(
      'The most that an environment without a program is kept for the next, in seconds; less where that did not pay.',
    ),
  suspendAfter: positiveCount
    .default(5)
    .describe('Environments of a kind that fail one after the other until no more are started.'),
  retrySeconds: positiveSeconds
    .default(10)
    .describe('Seconds until an environment of a suspended kind is tried; twice as long after each failure.'),
  maxRetrySeconds: positiveSeconds.default(600).describe('The longest time between two such tries, in seconds.'),
};

/** Refuses bounds that contradict each other. */
export function checkBounds(
  config: Pick<
    EnvironmentSlotsConfig,
    'minToolTimeoutSeconds' | 'maxToolTimeoutSeconds' | 'retrySeconds' | 'maxRetrySeconds'
  >,
  context: z.core.$RefinementCtx,
): void {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (config.minToolTimeoutSeconds > config.maxToolTimeoutSeconds) {
    refuse('minToolTimeoutSeconds', 'a minimum that is not above maxToolTimeoutSeconds');
  }
  if (config.retrySeconds > config.maxRetrySeconds) refuse('retrySeconds', 'a time that is not above maxRetrySeconds');
}

export const environmentSlotsConfig = z
  .strictObject({
    ...slotSettings,
    retries: count.default(2).describe('How many environments of a program may fail before it gets no other.'),
    idPrefix: idPrefix.default('').describe('Prefix of every slot id; new after each restart of the host.'),
  })
  .superRefine(checkBounds);

/** Returns the rule that derives time limits of tools from earlier answers. */
export const ruleOf = (config: EnvironmentSlotsConfig): TimeoutRule => ({
  factor: config.toolTimeoutFactor,
  minSeconds: config.minToolTimeoutSeconds,
  maxSeconds: config.maxToolTimeoutSeconds,
  exploreEvery: config.toolExploreEvery,
});
