/** The state at the beginning, and as it was saved. */
import { measure, nodeAdded, rememberLost, runsOn } from './cluster.ts';
import { newNode, newState, newStep } from './create.ts';
import { preprocessId, sliceId } from './ids.ts';
import { hold, reheap, setIdle } from './memory.ts';
import { mediaOf } from './samples.ts';
import type { ShadowLoaderConfig } from './schema.ts';
import type { SavedLoader } from './snapshot.ts';
import type { Batch, Demand, LoaderState, Node, Sample, Slice, UsedSample } from './state.ts';
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
  for (const one of saved.nodes) loadNode(state, one);
  for (const { rank, nodeId } of saved.ranks) {
    const node = nodeBy(state, nodeId);
    if (node !== undefined) runsOn(state, rank, node);
  }
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
  measure(state);
  state.dirty = false;
  return state;
}

function loadNode(state: LoaderState, { nodeId, active, ...facts }: SavedLoader['nodes'][number]): void {
  const node = Object.assign(newNode(nodeId), facts, { active });
  if (active) state.nodes.set(nodeId, node);
  else rememberLost(state, node);
}

const nodeBy = (state: LoaderState, id: string): Node | undefined => state.nodes.get(id) ?? state.lost.get(id);

function loadSample(state: LoaderState, saved: SavedLoader['samples'][number]): void {
  const { sampleId: id, stepId, media, node: nodeId, avoid: avoidId, ...rest } = saved;
  const step = state.steps.get(stepId)!;
  const avoid = avoidId === null ? null : (nodeBy(state, avoidId) ?? null);
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
  const used = saved.used.map(({ sampleId, ref, here }): UsedSample => {
    return here ? state.samples.get(sampleId)! : { id: sampleId, ref, used: 0 };
  });
  const batch: Batch = { id, order, stepId, plannedAt, demands: [], missing: [...missing], used, ...counts };
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
  else if (sample.status === 'unplaced') state.unplaced.update(sample);
  else setIdle(sample, sample.demands.length === 0);
}
