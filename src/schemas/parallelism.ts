/** The parallelism of engines on GPUs, the workload of a rollout step, and profiles of both. */
import { z } from 'zod';
import { gpuId } from './training.ts';
import { count, mostTokens, positiveCount, positiveSeconds, seconds, serverId } from './units.ts';

export type {
  GpuServer,
  ProfileConfiguration,
  ProfileRow,
  ReplicaGroup,
  RolloutWorkload,
} from '../generated/messages/objects.ts';

/** A tensor-parallel degree. */
export const tensorParallel = positiveCount.describe('Tensor-parallel degree: GPUs of one replica.');
/** An expert-parallel degree. */
export const expertParallel = positiveCount.describe('Expert-parallel degree inside the replica; divides the TP.');
/** Imbalance of a router's tokens over the ranks with the experts: most loaded rank ÷ mean, >= 1. */
export const routingSkew = z
  .number()
  .min(1)
  .describe('Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent.');

export const rolloutWorkload = z
  .strictObject({
    responses: positiveCount.describe('Requests that run, those that are aborted later included.'),
    promptTokens: z.number().nonnegative().max(mostTokens).describe('Mean tokens of a prompt, 0 to 1e9.'),
    responseTokens: z
      .number()
      .positive()
      .max(mostTokens)
      .describe('Mean tokens that a request generates, > 0 and at most 1e9.'),
    longestTokens: z
      .number()
      .positive()
      .max(mostTokens)
      .describe('Most tokens that a request generates; at least the mean, at most 1e9.'),
    routingSkew: routingSkew.optional(),
  })
  .describe('What a rollout step demands of the engines, over all of them.');

export const profileConfiguration = z
  .strictObject({
    tp: tensorParallel,
    ep: expertParallel.optional(),
    routingSkew: routingSkew.optional(),
    batchSize: positiveCount.describe('Sequences that one replica runs at once.'),
    sequenceLength: positiveCount.describe('Tokens of each sequence.'),
  })
  .describe('A point that a profile measures.');

export const profileRow = profileConfiguration
  .extend({
    decodeStepSeconds: positiveSeconds.describe('Seconds of one decode step of the batch, > 0.'),
    prefillSeconds: seconds.describe('Seconds to prefill the batch.'),
    bytes: z
      .number()
      .nonnegative()
      .describe('Bytes that each GPU of the replica holds: weights, KV cache, activations.'),
  })
  .describe('A row of a profile: a point, and what was measured there.');

export const replicaGroup = z
  .strictObject({
    replica: count.describe('Number of the replica, from 0.'),
    serverId,
    gpuIds: z.array(gpuId).min(1).describe('Its GPUs, by rank; experts are spread over `ep` consecutive ones.'),
  })
  .describe('One replica and the GPUs that it runs on.');

export const gpuServer = z
  .strictObject({
    serverId,
    gpuIds: z.array(gpuId).min(1).max(1024).describe('Its GPUs, neighbours beside each other.'),
  })
  .describe('A server and its GPUs.');
