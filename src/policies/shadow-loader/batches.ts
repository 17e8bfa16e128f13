/** Batches: what their ranks need, until all of it is there. */
import type { Context } from '../../core/definition.ts';
import type { BatchAssignment } from '../../schemas/loading.ts';
import { endBatch, finishBatch } from './finish.ts';
import { sliceId } from './ids.ts';
import { rest, unwant, want } from './samples.ts';
import { neededSlices, sendAll } from './slices.ts';
import type { Batch, Demand, LoaderState, Sample, Slice } from './state.ts';
import type { EventOf, LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

/** A plan says which ranks share which sequences: what each of them needs is fetched as soon as it is there. */
export function planned(state: LoaderState, event: EventOf<'batch.planned'>, ctx: Ctx): void {
  const { batchId: id, stepId } = event;
  const batch: Batch = { id, stepId, plannedAt: ctx.at, demands: new Set(), fetched: 0, open: 0, missing: [] };
  state.batches.set(id, batch);
  const used: Sample[] = [];
  const wanted: Sample[] = [];
  for (const [sample, assignments] of bySample(state, event.assignments)) {
    const slices = sample.media === null ? [] : neededSlices(sample.media.frames, assignments);
    if (slices.length === 0) {
      used.push(sample);
      continue;
    }
    const demand: Demand = { batch, sample, slices: new Set() };
    for (const { rank, fromFrame, toFrame } of slices) {
      const number = state.nextSlice++;
      const tries = { attempt: 0, sent: false, failures: 0 };
      const slice: Slice = {
        ...{ number, id: sliceId(state.prefix, number), demand, rank, from: fromFrame, to: toFrame },
        ...tries,
      };
      demand.slices.add(slice);
      state.slices.set(slice.id, slice);
    }
    batch.open += slices.length;
    want(state, demand);
    wanted.push(sample);
  }
  sendAll(state, wanted, ctx);
  for (const sample of used) {
    sample.used += 1;
    rest(state, sample, ctx);
  }
  finishBatch(state, batch, ctx);
}

/** The sequences of each sample, in the order in which the samples are named first. */
function bySample(state: LoaderState, assignments: readonly BatchAssignment[]): Map<Sample, BatchAssignment[]> {
  const found = new Map<Sample, BatchAssignment[]>();
  for (const one of assignments) {
    if (one.sampleId === undefined) continue;
    const sample = state.samples.get(one.sampleId)!;
    const known = found.get(sample);
    if (known === undefined) found.set(sample, [one]);
    else known.push(one);
  }
  return found;
}

/** A rank has a slice. With the last one of a sample the batch has used it, with the last of all the batch can run. */
export function fetched(state: LoaderState, slice: Slice, ctx: Ctx): void {
  const { demand } = slice;
  const { batch, sample, slices } = demand;
  state.slices.delete(slice.id);
  slices.delete(slice);
  batch.fetched += 1;
  batch.open -= 1;
  if (slices.size > 0) return;
  sample.used += 1;
  unwant(state, demand, ctx);
  finishBatch(state, batch, ctx);
}

/** Gives a batch up: it has used nothing. */
export function abandon(state: LoaderState, batch: Batch, code: 'withdrawn' | 'host_restarted', ctx: Ctx): void {
  const { id: batchId, stepId, open } = batch;
  ctx.emit({ type: 'batch.abandoned', at: ctx.at, batchId, stepId, open, reason: { code } });
  for (const demand of [...batch.demands]) {
    for (const slice of demand.slices) state.slices.delete(slice.id);
    unwant(state, demand, ctx);
  }
  endBatch(state, batch);
}

/** The host does not run a batch. */
export function withdrawn(state: LoaderState, batchId: string, ctx: Ctx): void {
  const batch = state.batches.get(batchId);
  if (batch !== undefined) abandon(state, batch, 'withdrawn', ctx);
}
