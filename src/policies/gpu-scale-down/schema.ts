/** The configuration and the decisions of gpu-scale-down. */
import { z } from 'zod';
import type { Context } from '../../core/machine/definition.ts';
import type { GpuScaleDownConfig, GpuScaleDownDecision } from '../../generated/settings/gpu-scale-down.ts';
import {
  gpusReclaim,
  gpusRelease,
  migrationAbandoned,
  migrationCancel,
  progressQuery,
  requestMigrate,
  scaleDownLate,
  scaleDownRejected,
} from '../../schemas/decisions/gpus.ts';
import { placedEngines } from '../../schemas/gpus.ts';
import { gpuId } from '../../schemas/training.ts';
import { positiveCount } from '../../schemas/units.ts';

const fraction = z.number().gt(0).max(1);

/** The shape of the configuration, without the conditions between settings. */
export const scaleDownSettings = {
  engines: placedEngines
    .default([])
    .describe('The engines that roll out, with the GPUs that they run on; none until `engines.placed` names them.'),
  communicationGroups: z
    .array(z.array(gpuId).min(1))
    .default([])
    .describe('GPUs that a data-parallel replica needs together in training: none of these groups is split.'),
  maxResponseTokens: z.int().min(1).max(16_777_216).describe('Longest response, in tokens, over all attempts.'),
  bytesPerToken: z.number().positive().optional().describe('KV cache of a token, in bytes; with `kvCapacityBytes`.'),
  progressUnit: z
    .enum(['responses', 'prompts'])
    .default('responses')
    .describe('What progress counts: accepted responses of P0 · R0, or counted prompts of P0.'),
  trigger: z
    .union([z.literal('adaptive'), fraction])
    .default('adaptive')
    .describe('`adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits.'),
  firstFraction: fraction.default(0.2).describe('Progress at which it is evaluated first (`adaptive`), included.'),
  lastFraction: fraction.default(0.5).describe('Progress beyond which it is not evaluated (`adaptive`), included.'),
  fractionStep: fraction.default(0.05).describe('Progress from one evaluation to the next at least (`adaptive`).'),
  quantile: z
    .number()
    .min(0.5)
    .max(0.9999)
    .default(0.95)
    .describe('Chance that the KV cache of every remaining engine stays below its projected peak.'),
  historyRetention: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .describe('Share of the weight of earlier rounds of a kind that remains after each of them.'),
  maxMigrationAttempts: positiveCount.default(2).describe('Tries to move a request before the release is given up.'),
};

type Issue = { message: string; path: (string | number)[] };

/** Finds conflicts: bytes need the size of a token; groups must name GPUs of engines, unless the engines come later. */
function* conflicts(config: z.output<typeof shape>): Generator<Issue> {
  const { engines, communicationGroups, bytesPerToken } = config;
  if (bytesPerToken === undefined && engines.some((one) => one.kvCapacityBytes !== undefined)) {
    yield { message: 'expected bytesPerToken beside kvCapacityBytes', path: ['bytesPerToken'] };
  }
  const gpus = new Set(engines.flatMap((one) => one.gpuIds));
  for (const [at, group] of engines.length > 0 ? communicationGroups.entries() : []) {
    const index = group.findIndex((gpu) => !gpus.has(gpu));
    if (index >= 0) yield { message: 'expected a GPU of an engine', path: ['communicationGroups', at, index] };
  }
  if (config.firstFraction > config.lastFraction) {
    yield { message: 'expected at least firstFraction', path: ['lastFraction'] };
  }
}

const shape = z.strictObject({
  promptsPerRound: positiveCount.describe('P0: prompts that a round trains on.'),
  responsesPerPrompt: positiveCount.describe('R0: responses of each of them.'),
  ...scaleDownSettings,
});

export const scaleDownConfig = shape.superRefine((config, context) => {
  for (const issue of conflicts(config)) context.addIssue({ code: 'custom', ...issue });
});

/** Returns the responses, or prompts, that a round needs. */
export function targetOf({ progressUnit, promptsPerRound, responsesPerPrompt }: GpuScaleDownConfig): number {
  return progressUnit === 'prompts' ? promptsPerRound : promptsPerRound * responsesPerPrompt;
}

export const scaleDownDecisions = [
  progressQuery,
  gpusRelease,
  requestMigrate,
  migrationCancel,
  migrationAbandoned,
  gpusReclaim,
  scaleDownRejected,
  scaleDownLate,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<GpuScaleDownDecision>;
