/** Batches: what their ranks need, until all of it is there. */
import type { Context } from '../../core/definition.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import { endBatch, finishBatch } from './finish.ts';
import { sliceId } from './ids.ts';
import { forgetSlices, rest, unwant, want } from './samples.ts';
import { neededSlices, sendAll } from './slices.ts';
import type { Batch, Demand, LoaderState, Sample, Slice } from './state.ts';
import type { EventOf, LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

/** A plan says which ranks share which sequences: what each of them needs is fetched as soon as it is there. */
export function planned(state: LoaderState, event: EventOf<'batch.planned'>, ctx: Ctx): void {
  const { batchId: id, stepId } = event;
  const counts = { waiting: 0, fetched: 0, open: 0 };
  const order = state.nextBatch++;
  const batch: Batch = { id, order, stepId, plannedAt: ctx.at, demands: [], missing: [], used: [], ...counts };
  state.batches.set(id, batch);
  const used: Sample[] = [];
  const wanted: Sample[] = [];
  for (const [sample, assignments] of bySample(state, event.assignments)) {
    const slices = sample.media === null ? [] : neededSlices(sample.media.frames, assignments);
    if (slices.length === 0) used.push(sample);
    else {
      demand(state, batch, sample, slices);
      wanted.push(sample);
    }
  }
  sendAll(state, wanted, ctx);
  for (const sample of used) {
    use(batch, sample);
    rest(state, sample, ctx);
  }
  finishBatch(state, batch, ctx);
}

function use(batch: Batch, sample: Sample): void {
  sample.used += 1;
  batch.used.push(sample);
}

function demand(state: LoaderState, batch: Batch, sample: Sample, needed: readonly FrameSlice[]): void {
  const one: Demand = { batch, sample, slices: [], open: needed.length, place: -1 };
  for (let index = 0; index < needed.length; index += 1) {
    const { rank, fromFrame: from, toFrame: to } = needed[index]!;
    const id = sliceId(state.prefix, state.nextSlice);
    const slice: Slice = {
      number: state.nextSlice,
      id,
      demand: one,
      rank,
      from,
      to,
      attempt: 0,
      sent: false,
      fetched: false,
      failures: 0,
    };
    state.nextSlice += 1;
    one.slices.push(slice);
    state.slices.set(id, slice);
  }
  batch.open += needed.length;
  batch.waiting += 1;
  batch.demands.push(one);
  want(state, one);
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
  const { demand: one } = slice;
  const { batch, sample } = one;
  state.slices.delete(slice.id);
  slice.fetched = true;
  one.open -= 1;
  batch.fetched += 1;
  batch.open -= 1;
  if (one.open > 0) return;
  use(batch, sample);
  unwant(state, one, ctx);
  finishBatch(state, batch, ctx);
}

/** Gives a batch up: it has used nothing, and what left by a use for it is named. */
export function abandon(state: LoaderState, batch: Batch, code: 'withdrawn' | 'host_restarted', ctx: Ctx): void {
  const { id: batchId, stepId, open } = batch;
  const gone = batch.used.flatMap((one) => {
    const { id: sampleId, ref } = one;
    // An id that has been drawn again is another sample.
    if (state.samples.get(sampleId) !== one) return [{ sampleId, ...(ref === null ? undefined : { ref }) }];
    one.used -= 1;
    return [];
  });
  ctx.emit({ type: 'batch.abandoned', at: ctx.at, batchId, stepId, open, gone, reason: { code } });
  for (const one of batch.demands) {
    // What it has, its ranks have; what was dropped is gone.
    if (one.open === 0) continue;
    forgetSlices(state, one);
    unwant(state, one, ctx);
  }
  endBatch(state, batch);
}

/** The host does not run a batch. */
export function withdrawn(state: LoaderState, batchId: string, ctx: Ctx): void {
  const batch = state.batches.get(batchId);
  if (batch !== undefined) abandon(state, batch, 'withdrawn', ctx);
}
