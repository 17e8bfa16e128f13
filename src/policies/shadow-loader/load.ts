/** The state at the beginning, and as it was saved. */
import { nodeAdded } from './cluster.ts';
import { newState, newStep } from './create.ts';
import { preprocessId, sliceId } from './ids.ts';
import { hold, reheap, setIdle } from './memory.ts';
import { mediaOf } from './samples.ts';
import type { ShadowLoaderConfig } from './schema.ts';
import type { SavedLoader } from './snapshot.ts';
import type { Batch, Demand, LoaderState, Sample, Slice } from './state.ts';
import { moveOn } from './steps.ts';

/** The state at the beginning: with the nodes of the configuration. */
export function init(config: ShadowLoaderConfig): LoaderState {
  const state = newState(config);
  for (const node of config.nodes) nodeAdded(state, node);
  state.dirty = false;
  return state;
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
