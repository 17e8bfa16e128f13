/** Engines, their GPUs, and requests that run on them or move between them. */
import { z } from 'zod';
import { gpuId } from './training.ts';
import { engineId, positiveCount, requestId, serverId, tokenSum, tokens } from './units.ts';

export type { EnginePlace, MigrationBatch, PlacedEngine, RunningRequest } from '../generated/messages/objects.ts';

export const runningRequest = z
  .strictObject({
    requestId,
    engineId: engineId.describe('The engine that it runs on, or waits on.'),
    tokens: tokens.describe('Tokens that it has generated so far, over all attempts.'),
    promptTokens: tokens.describe('Tokens of its prompt; they stand in the KV cache too.'),
  })
  .describe('A request that is in flight on an engine.');

export const enginePlace = z
  .strictObject({
    engineId,
    gpuIds: z.array(gpuId).describe('The GPUs of its tensor-parallel group.'),
  })
  .describe('An engine and its GPUs.');

export const placedEngine = z
  .strictObject({
    engineId,
    serverId: serverId.describe('The server that its GPUs are in.'),
    gpuIds: z.array(gpuId).min(1).describe('The GPUs of its tensor-parallel group.'),
    kvCapacityTokens: tokenSum.min(1).optional().describe('What its KV cache holds, in tokens; this, or bytes.'),
    kvCapacityBytes: positiveCount.optional().describe('What its KV cache holds, in bytes; this, or tokens.'),
  })
  .refine((one) => (one.kvCapacityTokens === undefined) !== (one.kvCapacityBytes === undefined), {
    message: 'expected kvCapacityTokens or kvCapacityBytes, one of them',
    path: ['kvCapacityTokens'],
  })
  .describe('An engine with its server, its GPUs and the size of its KV cache.');

/** All engines of the rollout: each engine once, and each GPU once. */
export const placedEngines = z.array(placedEngine).superRefine((engines, context) => {
  const ids = new Set<string>();
  const gpus = new Set<string>();
  for (const [at, { engineId: id, gpuIds }] of engines.entries()) {
    if (ids.has(id)) {
      context.addIssue({ code: 'custom', message: 'expected engine ids that differ', path: [at, 'engineId'] });
    }
    ids.add(id);
    for (const [index, gpu] of gpuIds.entries()) {
      if (gpus.has(gpu)) {
        context.addIssue({ code: 'custom', message: 'expected each GPU once', path: [at, 'gpuIds', index] });
      }
      gpus.add(gpu);
    }
  }
});

export const migration = z
  .strictObject({
    requestId,
    from: engineId.describe('The engine that it leaves.'),
    to: engineId.describe('The engine that it goes to.'),
    tokens: tokens.describe('Tokens generated when this was decided; they are kept, the budget is cumulative.'),
  })
  .describe('A request that moves to another engine.');

export const migrationBatch = z
  .strictObject({
    from: engineId.describe('The engine that they leave.'),
    to: engineId.describe('The engine that they go to.'),
    requestIds: z.array(requestId).min(1).describe('The requests, in the order of the report.'),
    tokens: z
      .array(tokens)
      .describe('Tokens that each had generated when this was decided, in the same order; they are kept.'),
  })
  .describe('Requests that move from one engine to another.');
