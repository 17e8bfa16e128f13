/** What a snapshot holds. What can be derived (loads, heaps, sums) is not in it but built again. */
import { z } from 'zod';
import { visualSample } from '../../schemas/loading.ts';
import { nodeAdded } from './cluster.ts';
import { preprocessId, sliceId } from './ids.ts';
import { hold, reheap, setIdle } from './memory.ts';
import { mediaOf } from './samples.ts';
import type { ShadowLoaderConfig } from './schema.ts';
import { type Batch, type Demand, type LoaderState, newState, type Sample, type Slice } from './state.ts';
import { moveOn, newStep } from './steps.ts';

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
  status: z.enum(['waiting', 'preprocessing', 'registered', 'text']),
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
    const steps = new Set(saved.steps.map((one) => one.stepId));
    const samples = new Set(saved.samples.map((one) => one.sampleId));
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message: `${message} of the snapshot` });
    saved.ranks.forEach(({ nodeId }, at) => {
      if (!nodes.has(nodeId)) refuse(['ranks', at, 'nodeId'], 'a node');
    });
    saved.samples.forEach(({ stepId, node, avoid, status, task, media }, at) => {
      if (!steps.has(stepId)) refuse(['samples', at, 'stepId'], 'a step');
      if (node !== null && !nodes.has(node)) refuse(['samples', at, 'node'], 'a node');
      if (avoid !== null && !nodes.has(avoid)) refuse(['samples', at, 'avoid'], 'a node');
      const isPlaced = status === 'preprocessing' || status === 'registered';
      if ((node !== null) !== isPlaced) refuse(['samples', at, 'node'], `a node with status ${status}`);
      if ((task !== null) !== (status === 'preprocessing')) refuse(['samples', at, 'task'], `no task with ${status}`);
      if ((media === null) !== (status === 'text')) refuse(['samples', at, 'media'], `media with status ${status}`);
    });
    saved.batches.forEach(({ demands }, at) => {
      demands.forEach(({ sampleId }, index) => {
        if (!samples.has(sampleId)) refuse(['batches', at, 'demands', index, 'sampleId'], 'a sample');
      });
    });
  });
export type SavedLoader = z.output<typeof loaderSnapshot>;

/** The state at the beginning: with the nodes of the configuration. */
export function init(config: ShadowLoaderConfig): LoaderState {
  const state = newState(config);
  for (const node of config.nodes) nodeAdded(state, node);
  state.dirty = false;
  return state;
}

/** The whole state as JSON, sharing nothing with it. */
export function save(state: LoaderState): SavedLoader {
  const { seq, nextStep, nextTask, nextSlice, prefix } = state;
  return {
    nodes: [...state.nodes.values()].map(({ id: nodeId, hostMemoryBytes, weight, slots, active }) => {
      return { nodeId, hostMemoryBytes, weight, slots, active };
    }),
    ranks: [...state.nodeOfRank].map(([rank, node]) => ({ rank, nodeId: node.id })),
    steps: [...state.steps.values()].map(({ id: stepId, order, closed }) => ({ stepId, order, closed })),
    samples: [...state.samples.values()].map(saveSample),
    batches: [...state.batches.values()].map(saveBatch),
    recentSteps: [...state.recentSteps],
    recentBatches: [...state.recentBatches],
    ...{ seq, nextStep, nextTask, nextSlice, prefix },
    oldPrefixes: [...state.oldPrefixes],
  };
}

function saveSample(sample: Sample): SavedLoader['samples'][number] {
  const { id: sampleId, step, seq, ref, media, uses, used, bytes, status, cause, node, task, ahead, avoid } = sample;
  const { infrastructureFailures, dataFailures } = sample;
  return {
    ...{ sampleId, stepId: step.id, seq, ref, media: media && mediaOf(media), uses, used, bytes, status, cause },
    ...{ node: node?.id ?? null, task, ahead, infrastructureFailures, dataFailures, avoid: avoid?.id ?? null },
  };
}

function saveBatch({
  id: batchId,
  stepId,
  plannedAt,
  fetched,
  missing,
  demands,
}: Batch): SavedLoader['batches'][number] {
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
  };
}

/** The state that was saved, sharing nothing with what is given. */
export function load(saved: SavedLoader, config: ShadowLoaderConfig): LoaderState {
  const { seq, nextStep, nextTask, nextSlice, prefix } = saved;
  const state: LoaderState = {
    ...newState(config),
    ...{ seq, nextStep, nextTask, nextSlice, prefix, oldPrefixes: [...saved.oldPrefixes] },
    ...{ recentSteps: [...saved.recentSteps], recentBatches: [...saved.recentBatches] },
  };
  for (const { active, slots, ...node } of saved.nodes) {
    nodeAdded(state, { ...node, ...(slots === null ? undefined : { slots }) });
    state.nodes.get(node.nodeId)!.active = active;
  }
  for (const { rank, nodeId } of saved.ranks) state.nodeOfRank.set(rank, state.nodes.get(nodeId)!);
  for (const { stepId, order, closed } of saved.steps) {
    const step = Object.assign(newStep(stepId, order), { closed });
    state.steps.set(stepId, step);
    if (!closed) state.openSteps.push(step);
  }
  moveOn(state);
  for (const one of saved.samples) loadSample(state, one);
  for (const one of saved.batches) loadBatch(state, one);
  for (const sample of state.samples.values()) settleSample(state, sample);
  for (const node of state.nodes.values()) reheap(state, node);
  state.largestBudget = Math.max(0, ...saved.nodes.filter((one) => one.active).map((one) => one.hostMemoryBytes));
  state.dirty = false;
  return state;
}

function loadSample(state: LoaderState, saved: SavedLoader['samples'][number]): void {
  const { sampleId: id, stepId, media, node: nodeId, avoid: avoidId, ...rest } = saved;
  const step = state.steps.get(stepId)!;
  const avoid = avoidId === null ? null : state.nodes.get(avoidId)!;
  const places = { demands: [], heapIndex: -1 };
  const sample: Sample = { ...rest, id, step, media: media && mediaOf(media), node: null, avoid, ...places };
  state.samples.set(id, sample);
  step.samples += 1;
  if (nodeId === null) return;
  const node = state.nodes.get(nodeId)!;
  // Heaps are built when all loads are known.
  state.open.remove(node);
  hold(sample, node);
  if (sample.task === null) return;
  state.tasks.set(preprocessId(state.prefix, sample.task), sample);
  node.queued += 1;
  node.queuedBytes += sample.bytes;
}

function loadBatch(state: LoaderState, saved: SavedLoader['batches'][number]): void {
  const { batchId: id, stepId, plannedAt, fetched, missing } = saved;
  const counts = { waiting: saved.demands.length, fetched, open: 0 };
  const order = state.nextBatch++;
  const batch: Batch = { id, order, stepId, plannedAt, demands: [], missing: [...missing], ...counts };
  state.batches.set(id, batch);
  for (const { sampleId, slices } of saved.demands) {
    const sample = state.samples.get(sampleId)!;
    const demand: Demand = { batch, sample, slices: [], open: slices.length, place: sample.demands.length };
    batch.demands.push(demand);
    sample.demands.push(demand);
    batch.open += slices.length;
    for (const one of slices) {
      const slice: Slice = { ...one, id: sliceId(state.prefix, one.number), demand, fetched: false };
      demand.slices.push(slice);
      state.slices.set(slice.id, slice);
    }
  }
}

/** Where a sample stands follows from what it is and who needs it. */
function settleSample(state: LoaderState, sample: Sample): void {
  if (sample.demands.length === 0) sample.step.unwanted.add(sample);
  if (sample.status === 'waiting') state.waiting.update(sample);
  else setIdle(sample, sample.demands.length === 0);
}
