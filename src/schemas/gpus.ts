/** Engines, their GPUs, and requests that run on them or move between them. */
import { z } from 'zod';
import { gpuId } from './training.ts';
import { engineId, requestId, tokens } from './units.ts';

/** A request that is in flight on an engine. */
export const runningRequest = z.strictObject({
  requestId,
  engineId: engineId.describe('The engine that it runs on, or waits on.'),
  tokens: tokens.describe('Tokens that it has generated so far, over all attempts.'),
  promptTokens: tokens.describe('Tokens of its prompt; they stand in the KV cache too.'),
});

/** An engine and its GPUs. */
export const enginePlace = z.strictObject({
  engineId,
  gpuIds: z.array(gpuId).describe('The GPUs of its tensor-parallel group.'),
});

/** A request that moves to another engine. */
export const migration = z.strictObject({
  requestId,
  from: engineId.describe('The engine that it leaves.'),
  to: engineId.describe('The engine that it goes to.'),
  tokens: tokens.describe('Tokens generated when this was decided; they are kept, the budget is cumulative.'),
});

/** A request that is in flight on an engine. */
export type RunningRequest = z.output<typeof runningRequest>;
/** An engine and its GPUs. */
export type EnginePlace = z.output<typeof enginePlace>;
/** A request that moves to another engine. */
export type Migration = z.output<typeof migration>;
