/** Configuration of adaptive-tp. */
import { z } from 'zod';
import { gpuServer, profileRow, rolloutWorkload, tensorParallel } from '../../schemas/parallelism.ts';
import { count, positiveCount } from '../../schemas/units.ts';
import { degreesOf } from './bounds.ts';

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
