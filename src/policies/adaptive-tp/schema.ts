/** Configuration of adaptive-tp. */

import { z } from 'zod';
import {
  type GpuServer,
  gpuServer,
  profileRow,
  type ReplicaGroup,
  rolloutWorkload,
  tensorParallel,
} from '../../schemas/parallelism.ts';
import { count, positiveCount } from '../../schemas/units.ts';

const bytes = z.number().positive();
const share = z.number().min(0).max(10);

export const tpConfig = z
  .strictObject({
    servers: z.array(gpuServer).min(1).max(4096).describe('The servers of the rollout, with their GPUs in order.'),
    kvHeads: positiveCount.describe('KV heads of the model; a TP degree divides them.'),
    modelBytes: bytes.describe('Bytes of the weights of the model, over all GPUs of a replica.'),
    gpuMemoryBytes: bytes.describe('Bytes of memory of one GPU.'),
    memoryUtilization: z
      .number()
      .positive()
      .max(1)
      .default(0.9)
      .describe('Share of the GPU memory that an engine may use for weights and KV cache.'),
    sequenceBytes: z
      .number()
      .nonnegative()
      .default(0)
      .describe('Bytes of KV cache of one sequence of the greatest length; a replica must hold at least one.'),
    experts: positiveCount
      .optional()
      .describe('Routed experts of an MoE model; EP degrees divide them and the TP. Without it EP is not touched.'),
    minTp: tensorParallel.default(1).describe('Least tensor-parallel degree.'),
    maxTp: tensorParallel.optional().describe('Greatest tensor-parallel degree; that of a server if absent.'),
    startTp: z
      .strictObject({
        short: tensorParallel.optional().describe('Degree that short rounds start with.'),
        long: tensorParallel.optional().describe('Degree that long rounds start with.'),
      })
      .default({})
      .describe('Degrees to start with, in place of those that the profile gives.'),
    expectedWorkload: z
      .strictObject({
        short: rolloutWorkload.optional().describe('What a short round is expected to demand.'),
        long: rolloutWorkload.optional().describe('What a long round is expected to demand.'),
      })
      .default({})
      .describe('What the first rounds are expected to demand: the profile chooses the start for it.'),
    profile: z
      .array(profileRow)
      .max(20_000)
      .default([])
      .describe('Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto.'),
    riseFactor: z
      .number()
      .min(1)
      .max(100)
      .default(1.05)
      .describe('Preemptions above this many times those of the step before double the TP.'),
    preemptionFloor: count.default(4).describe('Preemptions of a step up to which nothing counts as a rise.'),
    calmSteps: positiveCount.default(4).describe('Steps in a row without a preemption after which the TP is halved.'),
    cooldownSteps: count.max(100).default(1).describe('Steps after a change that lead to no other one, but an undo.'),
    undoTolerance: share
      .default(0.05)
      .describe('A change is undone if measured ÷ predicted seconds rises by more than this share.'),
    loadTolerance: share.default(0.25).describe('Share by which the load must move before it counts as another load.'),
    selectionMargin: share
      .default(0.02)
      .describe('Share by which the profile must predict fewer seconds before it changes the TP by itself.'),
    observedTolerance: share.default(0.25).describe('Share by which an observation may differ from the profile.'),
    observedRounds: positiveCount
      .default(3)
      .describe('Rounds of far observations in a row before it is measured anew.'),
  })
  .superRefine((config, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message: `expected ${message}`, continue: false } as never);
    const servers = new Set<string>();
    const gpus = new Set<string>();
    for (const [at, { serverId, gpuIds }] of config.servers.entries()) {
      if (servers.has(serverId)) return refuse(['servers', at, 'serverId'], 'a server that is not listed yet');
      servers.add(serverId);
      for (const [index, gpuId] of gpuIds.entries()) {
        if (gpus.has(gpuId)) return refuse(['servers', at, 'gpuIds', index], 'a GPU that is not listed yet');
        gpus.add(gpuId);
      }
    }
    const degrees = degreesOf(config);
    if (degrees.length === 0) {
      const bound = 'a power of two from minTp to maxTp that divides the GPUs of every server and the KV heads';
      return refuse(['maxTp'], `room for a degree: ${bound}, with weights and one sequence in the memory`);
    }
    for (const kind of ['short', 'long'] as const) {
      const start = config.startTp[kind];
      if (start !== undefined && !degrees.includes(start)) refuse(['startTp', kind], `one of ${degrees.join(', ')}`);
      const expected = config.expectedWorkload[kind];
      if (expected !== undefined && expected.longestTokens < expected.responseTokens)
        refuse(['expectedWorkload', kind, 'longestTokens'], 'at least responseTokens');
    }
    for (const [at, { tp, ep }] of config.profile.entries()) {
      if (ep !== undefined && tp % ep !== 0) return refuse(['profile', at, 'ep'], 'a divisor of tp');
    }
  });

/** A tensor-parallel degree, with the expert-parallel degree inside it if experts are spread. */
export interface Parallelism {
  /** Tensor-parallel degree: GPUs of one replica. */
  readonly tp: number;
  /** Expert-parallel degree inside a replica; divides the TP. */
  readonly ep?: number | undefined;
}

/** Limits that decide which degrees of TP and EP a kind of round may use. */
export interface Bounds {
  /** Servers with their GPUs; a replica does not span two servers. */
  readonly servers: readonly GpuServer[];
  /** KV heads of the model; the TP must divide this number. */
  readonly kvHeads: number;
  /** Bytes of the weights, all shards together. */
  readonly modelBytes: number;
  /** Memory of one GPU, in bytes. */
  readonly gpuMemoryBytes: number;
  /** Share of GPU memory that weights and KV cache may fill, above 0 and at most 1. */
  readonly memoryUtilization: number;
  /** KV bytes of one sequence of full length: every replica must have room for it. */
  readonly sequenceBytes: number;
  /** Least TP, ≥ 1. */
  readonly minTp: number;
  /** Most TP; if absent, the number of GPUs of the largest server. */
  readonly maxTp?: number | undefined;
}

/**
 * Returns the possible TP degrees, ascending. These are powers of two between the bounds. They divide the GPUs of every server (a
 * replica never spans two servers, and no GPU is left over) and the KV heads, and the memory holds the weights and one sequence
 * of full length. The list has no gaps: every power of two from the first to the last is in it.
 */
export function degreesOf(bounds: Bounds): number[] {
  const { servers, kvHeads, minTp, maxTp = Number.POSITIVE_INFINITY } = bounds;
  const degrees: number[] = [];
  for (let tp = 1; tp <= maxTp; tp *= 2) {
    if (kvHeads % tp !== 0 || servers.some(({ gpuIds }) => gpuIds.length % tp !== 0)) break;
    const needed = (bounds.modelBytes + bounds.sequenceBytes) / tp;
    if (tp >= minTp && needed <= bounds.gpuMemoryBytes * bounds.memoryUtilization) degrees.push(tp);
  }
  return degrees;
}

/** Returns the EP degrees of a TP degree, ascending: powers of two that divide it and the experts. Empty without experts. */
export function expertDegreesOf(tp: number, experts: number | undefined): number[] {
  const degrees: number[] = [];
  if (experts === undefined) return degrees;
  for (let ep = 1; ep <= tp && tp % ep === 0 && experts % ep === 0; ep *= 2) degrees.push(ep);
  return degrees;
}

/** Returns a reported parallelism in the form of the policy: with EP only if `experts` is given; an absent EP is then 1. */
export function reported({ tp, ep = 1 }: Parallelism, experts: number | undefined): Parallelism {
  return experts === undefined ? { tp } : { tp, ep };
}

/** Returns the replicas of a degree, in the order of servers and GPUs; each has neighbouring GPUs of one server. */
export function replicasOf(servers: readonly GpuServer[], tp: number): ReplicaGroup[] {
  const replicas: ReplicaGroup[] = [];
  for (const { serverId, gpuIds } of servers) {
    for (let at = 0; at < gpuIds.length; at += tp) {
      replicas.push({ replica: replicas.length, serverId, gpuIds: gpuIds.slice(at, at + tp) });
    }
  }
  return replicas;
}

/** Whether two parallelisms are the same. */
export function isSame(a: Parallelism, b: Parallelism): boolean {
  return a.tp === b.tp && a.ep === b.ep;
}
