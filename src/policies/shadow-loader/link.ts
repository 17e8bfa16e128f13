/** Derives the loads, heaps, sums and positions that a snapshot does not save. */
import { forgetOldest, measure, runsOn } from './cluster.ts';
import { hold, reheap, setIdle } from './memory.ts';
import { putOffSlice } from './slices.ts';
import type { Batch, LoaderState, Sample } from './state.ts';
import { moveOn } from './steps.ts';

export function link(state: LoaderState): void {
  forgetOldest(state);
  for (const node of state.nodes.values()) node.active = true;
  for (const node of [...state.nodes.values(), ...state.lost.values()]) {
    for (const rank of node.ranks) runsOn(state, rank, node);
  }
  for (const step of state.steps.values()) if (!step.closed) state.openSteps.push(step);
  moveOn(state);
  for (const sample of state.samples.values()) linkSample(state, sample);
  for (const batch of state.batches.values()) linkBatch(state, batch);
  for (const sample of state.samples.values()) settleSample(state, sample);
  for (const node of state.nodes.values()) reheap(state, node);
  measure(state);
  state.dirty = false;
}

function linkSample(state: LoaderState, sample: Sample): void {
  const { node: held, avoid } = sample;
  sample.step = state.steps.get(sample.step.id)!;
  sample.step.samples += 1;
  sample.avoid = avoid && (state.nodes.get(avoid.id) ?? state.lost.get(avoid.id) ?? null);
  if (held === null) return;
  const node = state.nodes.get(held.id)!;
  hold(sample, node);
  if (sample.task === null) return;
  state.tasks.set(sample.task, sample);
  node.queued += 1;
  node.queuedBytes += sample.bytes;
}

function linkBatch(state: LoaderState, batch: Batch): void {
  batch.order = state.nextBatch++;
  batch.waiting = batch.demands.length;
  batch.used = batch.used.map((one) => (one.gone ? one : state.samples.get(one.id)!));
  for (const demand of batch.demands) {
    demand.batch = batch;
    demand.sample = state.samples.get(demand.sample.id)!;
    demand.open = demand.slices.length;
    demand.index = demand.sample.demands.push(demand) - 1;
    batch.open += demand.open;
    for (const slice of demand.slices) {
      slice.demand = demand;
      state.slices.set(slice.id, slice);
      if (slice.pausedUntil !== null) putOffSlice(state, slice, slice.pausedUntil);
    }
  }
}

/** Adds a sample to the heaps and sums that its status and its demands belong to. */
function settleSample(state: LoaderState, sample: Sample): void {
  if (sample.demands.length === 0) sample.step.unwanted.add(sample);
  if (sample.status === 'waiting') state.waiting.update(sample);
  else if (sample.status === 'paused') state.pauses.update(sample);
  else if (sample.status === 'unplaced') state.unplaced.update(sample);
  else setIdle(sample, sample.demands.length === 0);
}
