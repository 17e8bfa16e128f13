/** Handles batches, from the frames that ranks need until all ranks have them. */
import { refuse } from '../../errors.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import type { Message } from '../../schemas/messages.ts';
import { rest, unwant, want } from './samples.ts';
import type { Ctx } from './schema.ts';
import { endBatch, endSlicePause, finishBatch, forgetSlices, neededSlices, sendAll } from './slices.ts';
import { type Batch, type Demand, type LoaderState, type Sample, type Slice, sliceIdOf } from './state.ts';
import { checkKnown, checkOpen } from './steps.ts';

export function checkPlan(state: LoaderState, { batchId, stepId, assignments }: Message<'batch.run'>): void {
  if (state.batches.has(batchId) || state.recentBatches.has(batchId)) {
    refuse('duplicate_id', 'batchId', 'a new batch id', batchId);
  }
  checkKnown(state, stepId);
  checkOpen(state, stepId);
  for (let index = 0; index < assignments.length; index += 1) {
    const one = assignments[index]!;
    const path = `assignments[${index}]`;
    checkRanks(one, path);
    if (one.sampleId === undefined) {
      if ((one.slices ?? []).length === 0) continue;
      refuse('invalid_event', `${path}.sampleId`, 'a sample with slices', undefined);
    }
    const sample = state.samples.get(one.sampleId);
    if (sample === undefined)
      return refuse('unknown_id', `${path}.sampleId`, 'a sample that was drawn and is here', one.sampleId);
    checkUse(sample, `${path}.sampleId`);
    checkFrames(sample, one, path);
  }
}

function checkRanks({ degree, ranks }: BatchAssignment, path: string): void {
  if (degree !== ranks.length) {
    refuse('invalid_event', `${path}.degree`, `${ranks.length}, as that many ranks share it`, degree);
  }
  for (let index = 1; index < degree; index += 1) {
    if (ranks[index]! > ranks[index - 1]!) continue;
    refuse('invalid_event', `${path}.ranks`, 'ranks that ascend, each once', ranks[index]);
  }
}

function checkUse({ id, step, uses, used, demands }: Sample, path: string): void {
  if (step.closed) refuse('out_of_order', path, `a sample of an open step; ${step.id} is completed`, id);
  if (uses === null || used + demands.length < uses) return;
  refuse('limit_exceeded', path, `at most ${uses} batches that use it`, id);
}

function checkFrames({ media }: Sample, { slices = [] }: BatchAssignment, path: string): void {
  const frames = media?.frames ?? 0;
  for (let index = 0; index < slices.length; index += 1) {
    const { fromFrame, toFrame } = slices[index]!;
    if (fromFrame < toFrame && toFrame <= frames) continue;
    refuse('invalid_event', `${path}.slices[${index}]`, `frames within 0 to ${frames}`, `${fromFrame} to ${toFrame}`);
  }
}

/** Plans which rank needs which frames; each slice is fetched as soon as its sample is registered. */
export function plan(state: LoaderState, event: Message<'batch.run'>, ctx: Ctx): void {
  const { batchId: id, stepId } = event;
  const order = state.nextBatch++;
  const lists = { missing: [], demands: [], used: [] };
  const batch: Batch = { id, stepId, plannedAt: ctx.at, fetched: 0, ...lists, order, waiting: 0, open: 0 };
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
  const one: Demand = { sample, slices: [], batch, open: needed.length, index: -1 };
  for (let index = 0; index < needed.length; index += 1) {
    const { rank, fromFrame: from, toFrame: to } = needed[index]!;
    const id = sliceIdOf(state.prefix, state.nextSlice++);
    const slice: Slice = {
      id,
      rank,
      from,
      to,
      attempt: 0,
      sent: false,
      failures: 0,
      failed: 0,
      pausedUntil: null,
      lastSend: 0,
      fetched: false,
      demand: one,
      heapIndex: -1,
    };
    one.slices.push(slice);
    state.slices.set(id, slice);
  }
  batch.open += needed.length;
  batch.waiting += 1;
  batch.demands.push(one);
  want(state, one);
}

/** Groups the assignments by sample, in the order in which samples are first named. */
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

/**
 * Records that a rank has a slice. With the last slice of a sample, the batch has used the sample; with the last slice of all, the
 * batch can run.
 */
export function fetched(state: LoaderState, slice: Slice, ctx: Ctx): void {
  const { demand: one } = slice;
  const { batch, sample } = one;
  endSlicePause(state, slice);
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

/** Gives a batch up: it counts as having used nothing, and the decision names the samples that have left since. */
export function abandon(state: LoaderState, batch: Batch, code: 'withdrawn' | 'host_restarted', ctx: Ctx): void {
  const { id: batchId, stepId, open } = batch;
  const gone = batch.used.flatMap((one) => {
    const { id: sampleId, ref } = one;
    if (one.gone) return [{ sampleId, ...(ref === null ? undefined : { ref }) }];
    one.used -= 1;
    return [];
  });
  ctx.emit({ type: 'batch.abandoned', at: ctx.at, batchId, stepId, open, gone, reason: { code } });
  for (const one of batch.demands) {
    // A demand that is not open needs nothing more: its ranks have all slices, or its sample was dropped.
    if (one.open === 0) continue;
    forgetSlices(state, one);
    unwant(state, one, ctx);
  }
  endBatch(state, batch);
}

export function checkBatch({ batches, recentBatches }: LoaderState, { batchId }: Message<'batch.withdrawn'>): void {
  if (batches.has(batchId) || recentBatches.has(batchId)) return;
  refuse('unknown_id', 'batchId', 'a batch that was planned', batchId);
}

/** Gives up a batch that the host has withdrawn. */
export function withdraw(state: LoaderState, { batchId }: Message<'batch.withdrawn'>, ctx: Ctx): void {
  const batch = state.batches.get(batchId);
  if (batch !== undefined) abandon(state, batch, 'withdrawn', ctx);
}
