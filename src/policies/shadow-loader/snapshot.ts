/** What a snapshot holds. What can be derived (loads, heaps, sums) is not in it but built again. */
import { z } from 'zod';
import { visualSample } from '../../schemas/loading.ts';
import { mediaOf } from './samples.ts';
import type { Batch, LoaderState, Sample } from './state.ts';

const whole = z.int().nonnegative();
const { kind, path, frames, resolution } = visualSample.shape;

const nodeSchema = z.strictObject({
  nodeId: z.string(),
  hostMemoryBytes: whole,
  weight: z.number().positive(),
  slots: z.int().positive().nullable(),
  active: z.boolean(),
});
const stepSchema = z.strictObject({ stepId: z.string(), order: whole, closed: z.boolean() });
const sampleSchema = z.strictObject({
  sampleId: z.string(),
  stepId: z.string(),
  seq: whole,
  ref: z.string().nullable(),
  media: z.strictObject({ kind, path, frames, resolution }).nullable(),
  uses: z.int().positive().nullable(),
  used: whole,
  bytes: whole,
  status: z.enum(['waiting', 'unplaced', 'preprocessing', 'registered', 'text']),
  cause: z.enum(['drawn', 'node_lost', 'retry', 'memory', 'copy_missing', 'displaced', 'host_restarted']),
  node: z.string().nullable().describe('Id of the node that preprocesses or holds it.'),
  task: whole.nullable().describe('Number of the try on that node.'),
  ahead: z.boolean(),
  infrastructureFailures: whole,
  dataFailures: whole,
  avoid: z.string().nullable(),
});
const sliceSchema = z.strictObject({
  number: whole,
  rank: whole,
  from: whole,
  to: whole,
  attempt: whole,
  sent: z.boolean(),
  failures: whole,
});
const batchSchema = z.strictObject({
  batchId: z.string(),
  stepId: z.string(),
  plannedAt: z.number(),
  fetched: whole,
  missing: z.array(z.string()),
  demands: z.array(z.strictObject({ sampleId: z.string(), slices: z.array(sliceSchema).min(1) })).min(1),
  used: z
    .array(z.strictObject({ sampleId: z.string(), ref: z.string().nullable(), here: z.boolean() }))
    .describe('Samples whose use was counted for it, and whether they are here still.'),
});

/** Schema of the saved state. */
export const loaderSnapshot = z
  .strictObject({
    nodes: z.array(nodeSchema),
    ranks: z.array(z.strictObject({ rank: whole, nodeId: z.string() })),
    steps: z.array(stepSchema),
    samples: z.array(sampleSchema),
    batches: z.array(batchSchema),
    recentSteps: z.array(z.string()),
    recentBatches: z.array(z.string()),
    seq: whole,
    nextStep: whole,
    nextTask: whole,
    nextSlice: whole,
    prefix: z.string(),
    oldPrefixes: z.array(z.string()),
  })
  .superRefine((saved, context) => {
    const nodes = new Set(saved.nodes.map((one) => one.nodeId));
    const active = new Set(saved.nodes.filter((one) => one.active).map((one) => one.nodeId));
    const steps = new Set(saved.steps.map((one) => one.stepId));
    const samples = new Set(saved.samples.map((one) => one.sampleId));
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message: `${message} of the snapshot` });
    saved.ranks.forEach(({ nodeId }, at) => {
      if (!nodes.has(nodeId)) refuse(['ranks', at, 'nodeId'], 'a node');
    });
    saved.samples.forEach(({ stepId, node, avoid, status, task, media }, at) => {
      if (!steps.has(stepId)) refuse(['samples', at, 'stepId'], 'a step');
      if (node !== null && !active.has(node)) refuse(['samples', at, 'node'], 'an active node');
      if (avoid !== null && !nodes.has(avoid)) refuse(['samples', at, 'avoid'], 'a node');
      const isPlaced = status === 'preprocessing' || status === 'registered';
      if ((node !== null) !== isPlaced) refuse(['samples', at, 'node'], `a node with status ${status}`);
      if ((task !== null) !== (status === 'preprocessing')) refuse(['samples', at, 'task'], `no task with ${status}`);
      if ((media === null) !== (status === 'text')) refuse(['samples', at, 'media'], `media with status ${status}`);
    });
    saved.batches.forEach(({ demands, used }, at) => {
      used.forEach(({ sampleId, here }, index) => {
        if (here && !samples.has(sampleId)) refuse(['batches', at, 'used', index, 'sampleId'], 'a sample');
      });
      demands.forEach(({ sampleId }, index) => {
        if (!samples.has(sampleId)) refuse(['batches', at, 'demands', index, 'sampleId'], 'a sample');
      });
    });
  });
export type SavedLoader = z.output<typeof loaderSnapshot>;

/** The whole state as JSON, sharing nothing with it. */
export function save(state: LoaderState): SavedLoader {
  const { seq, nextStep, nextTask, nextSlice, prefix } = state;
  return {
    nodes: [...state.nodes.values(), ...state.lost.values()].map(
      ({ id: nodeId, hostMemoryBytes, weight, slots, active }) => {
        return { nodeId, hostMemoryBytes, weight, slots, active };
      },
    ),
    ranks: [...state.nodeOfRank].map(([rank, node]) => ({ rank, nodeId: node.id })),
    steps: [...state.steps.values()].map(({ id: stepId, order, closed }) => ({ stepId, order, closed })),
    samples: [...state.samples.values()].map((one) => saveSample(state, one)),
    batches: [...state.batches.values()].map((one) => saveBatch(state, one)),
    recentSteps: [...state.recentSteps],
    recentBatches: [...state.recentBatches],
    ...{ seq, nextStep, nextTask, nextSlice, prefix },
    oldPrefixes: [...state.oldPrefixes],
  };
}

function saveSample(state: LoaderState, sample: Sample): SavedLoader['samples'][number] {
  const { id: sampleId, step, seq, ref, media, uses, used, bytes, status, cause, node, task, ahead, avoid } = sample;
  const { infrastructureFailures, dataFailures } = sample;
  const isKnown = avoid !== null && (state.nodes.get(avoid.id) ?? state.lost.get(avoid.id)) === avoid;
  return {
    ...{ sampleId, stepId: step.id, seq, ref, media: media && mediaOf(media), uses, used, bytes, status, cause },
    ...{ node: node?.id ?? null, task, ahead, infrastructureFailures, dataFailures, avoid: isKnown ? avoid.id : null },
  };
}

function saveBatch(state: LoaderState, batch: Batch): SavedLoader['batches'][number] {
  const { id: batchId, stepId, plannedAt, fetched, missing, demands, used } = batch;
  return {
    ...{ batchId, stepId, plannedAt, fetched, missing: [...missing] },
    demands: demands
      .filter((one) => one.open > 0)
      .map(({ sample, slices }) => ({
        sampleId: sample.id,
        slices: slices
          .filter((one) => !one.fetched)
          .map(({ number, rank, from, to, attempt, sent, failures }) => {
            return { number, rank, from, to, attempt, sent, failures };
          }),
      })),
    used: used.map((one) => ({ sampleId: one.id, ref: one.ref, here: state.samples.get(one.id) === one })),
  };
}

/** Version 1 did not say what batches had used; what they had is taken for used, as it was then. */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as { batches?: ({ used?: unknown } | null)[] } | null;
  if (!Array.isArray(saved?.batches)) return saved;
  for (const batch of saved.batches) if (batch !== null && typeof batch === 'object') batch.used ??= [];
  return saved;
}
