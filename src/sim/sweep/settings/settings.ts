/** The settings that a sweep chooses, as plain JSON, for synchronous jobs and for jobs on pools. */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { positiveCount, speculationFactor } from '../../../schemas/units.ts';

const factors = {
  promptSpeculation: speculationFactor
    .default(1.25)
    .describe('eta_P: prompts of a short round over those that it needs; 1 is none, and no long rounds.'),
  responseSpeculation: speculationFactor
    .default(1.25)
    .describe('eta_R: responses of a prompt in a short round over those that it needs.'),
};

/** Schema of the settings of a synchronous job, scheduled by the recipe `rollpacker`. */
export const synchronousSettings = z.strictObject({
  ...factors,
  threshold: z
    .union([z.enum(['adaptive', 'off']), z.number().gt(0).max(1)])
    .default('adaptive')
    .describe('Share of the responses at which half of the GPUs go to training; `off`: training comes after rollouts.'),
  tp: z
    .union([z.literal('adaptive'), positiveCount])
    .default('adaptive')
    .describe('Tensor parallelism of the engines: following preemptions, or a degree that stays.'),
  rewards: z
    .literal('after')
    .optional()
    .describe('`after`: rewards come after the rollout, with fixed timeouts, as in the baseline; beside it if absent.'),
  windowRounds: positiveCount
    .max(1000)
    .optional()
    .describe(
      'W: rounds are composed by predicted length, in windows of so many; only where both factors are 1, or with `maxStaleness`.',
    ),
  maxStaleness: positiveCount
    .optional()
    .describe(
      'K: partial rollout, without long rounds: prompts that a round leaves over go on in the next ones, and no token lags by more than K versions. eta_R has no effect, W is 1 if absent.',
    ),
});

/** Schema of the settings of a job on pools, scheduled by `rolloutpipe`, or by `tail-pipelining` if a factor is above 1. */
export const poolsSettings = z.strictObject({
  promptSpeculation: factors.promptSpeculation.default(1),
  responseSpeculation: factors.responseSpeculation.default(1),
  width: z
    .union([z.enum(['auto', 'all']), positiveCount])
    .default('auto')
    .describe('F_w: most groups in service at once; `auto`: planned for every round; `all`: no frontier.'),
});

/** Settings of a synchronous job: eta_P, eta_R, the threshold of scaling down, TP. */
export type SynchronousSettings = Readonly<z.output<typeof synchronousSettings>>;
/** Settings of a job on pools: eta_P, eta_R, F_w. */
export type PoolsSettings = Readonly<z.output<typeof poolsSettings>>;
/** Settings of either kind of job. */
export type SweepSettings = SynchronousSettings | PoolsSettings;

/**
 * Checks settings, and fills in the papers' values as defaults. Throws `PolicyError` `invalid_config` with the path of the bad
 * field.
 */
export function defineSynchronousSettings(input: z.input<typeof synchronousSettings> = {}): SynchronousSettings {
  return parse(synchronousSettings, input, 'invalid_config');
}

/** Checks settings and fills in their defaults. Throws `PolicyError` `invalid_config` with the path of the bad field. */
export function definePoolsSettings(input: z.input<typeof poolsSettings> = {}): PoolsSettings {
  return parse(poolsSettings, input, 'invalid_config');
}

/** Returns launched ÷ needed responses in a short round. */
export const provisionOf = ({ promptSpeculation, responseSpeculation }: SweepSettings): number =>
  promptSpeculation * responseSpeculation;

/** Whether deferred prompts keep their tokens. */
export const isPartial = (settings: SweepSettings): boolean =>
  'maxStaleness' in settings && settings.maxStaleness !== undefined;

/** Returns a unique text for each combination of settings; the names have a fixed order. */
export function keyOf(settings: SweepSettings): string {
  const entries = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries);
}

const factor = (value: number): string => `${Number(value.toFixed(4))}`;

/** Formats settings as a short text for readers: `1.25 / 1.25, scale-down adaptive, TP adaptive`. */
export function labelOf(settings: SweepSettings): string {
  const etas = `${factor(settings.promptSpeculation)} / ${factor(settings.responseSpeculation)}`;
  if ('width' in settings) return `${etas}, F_w ${settings.width}`;
  const { threshold, tp } = settings;
  const share = typeof threshold === 'number' ? `${factor(100 * threshold)} %` : threshold;
  return `${batchesOf(settings) ?? etas}, scale-down ${share}, TP ${tp}`;
}

/** Returns how rounds are composed, if not by tail batching. */
function batchesOf({ windowRounds, maxStaleness, promptSpeculation }: SynchronousSettings): string | undefined {
  if (maxStaleness === undefined) return windowRounds === undefined ? undefined : `lossless tail, W ${windowRounds}`;
  const window = (windowRounds ?? 1) > 1 ? `, W ${windowRounds}` : '';
  return `partial rollout ${factor(promptSpeculation)}, lag ${maxStaleness}${window}`;
}
