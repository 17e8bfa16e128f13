/** Handles reports of nodes and ranks. */
import { wasMinted } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { fetched } from './batches.ts';
import { charge, fault, succeeded } from './faults.ts';
import { endTask, free, freeBytes, reheap, resize, setIdle } from './memory.ts';
import { drop, evict, requeue } from './samples.ts';
import type { Ctx } from './schema.ts';
import { sendAll } from './slices.ts';
import { type LoaderState, type Sample, sliceKind, taskKind } from './state.ts';
import { transferFault, transferred } from './transfers.ts';

export function checkTask(
  state: LoaderState,
  { preprocessId, nodeId }: Message<'sample.preprocessed' | 'preprocess.failed'>,
): void {
  const node = state.tasks.get(preprocessId)?.node;
  if (node === undefined || node === null) {
    if (wasMinted(state, preprocessId, state.nextTask, taskKind)) return;
    refuse('unknown_id', 'preprocessId', 'the id of a try that was begun', preprocessId);
  } else if (node.id !== nodeId) {
    refuse('invalid_event', 'nodeId', `${node.id}, which was given it`, nodeId);
  }
}

/** Records that a node holds the tensors of a sample; waiting ranks may now fetch them. */
export function preprocessed(state: LoaderState, event: Message<'sample.preprocessed'>, ctx: Ctx): void {
  const { preprocessId, bytes } = event;
  const sample = state.tasks.get(preprocessId);
  if (sample === undefined) return late(preprocessId, ctx);
  const node = sample.node!;
  const reservedBytes = sample.bytes;
  if (bytes - reservedBytes > freeBytes(node)) {
    // The node needs more memory than was reserved, and does not have it.
    evict(state, sample, { code: 'memory', reservedBytes, usedBytes: bytes }, ctx);
    sample.bytes = bytes;
    return charge(state, sample, 'memory', ctx);
  }
  endTask(state, sample, node);
  resize(sample, bytes);
  sample.status = 'registered';
  sample.avoid = null;
  setIdle(sample, sample.demands.length === 0);
  reheap(state, node);
  const reason = { code: 'preprocessed', reservedBytes } as const;
  ctx.emit({ type: 'sample.registered', at: ctx.at, sampleId: sample.id, nodeId: node.id, bytes, reason });
  succeeded(state, sample, node, ctx);
  if (sample.demands.length > 0) sendAll(state, [sample], ctx);
}

export function checkFailed(state: LoaderState, event: Message<'preprocess.failed'>): void {
  checkTask(state, event);
  const { kind, bytes } = event;
  if ((kind === 'memory') === (bytes !== undefined)) return;
  const expected = kind === 'memory' ? 'bytes with `memory`' : `no bytes with \`${kind}\``;
  refuse('invalid_event', 'bytes', expected, bytes);
}

/** Handles a node that could not preprocess a sample: the sample is tried again, on another node if there is one. */
export function failPreprocessing(state: LoaderState, event: Message<'preprocess.failed'>, ctx: Ctx): void {
  const sample = state.tasks.get(event.preprocessId);
  if (sample === undefined) return late(event.preprocessId, ctx);
  const node = sample.node!;
  const task = event.preprocessId;
  letGo(state, sample);
  if (event.kind === 'data') {
    sample.dataFailures += 1;
    const { dataFailures: failures } = sample;
    const budget = state.config.retry.data;
    if (failures > budget) return drop(state, sample, { code: 'data', failures, budget }, ctx);
    return requeue(state, sample, 'retry');
  }
  if (event.kind === 'memory') {
    sample.bytes = Math.max(sample.bytes, event.bytes!);
    return charge(state, sample, 'memory', ctx);
  }
  sample.avoid = node;
  fault(state, sample, { node, task, cause: 'retry' }, ctx);
}

export function checkSlice(state: LoaderState, event: Message<'slice.materialized' | 'slice.failed'>): void {
  const slice = state.slices.get(event.sliceId);
  if (slice === undefined) {
    if (wasMinted(state, event.sliceId, state.nextSlice, sliceKind)) return;
    return refuse('unknown_id', 'sliceId', 'the id of a slice', event.sliceId);
  }
  if (slice.rank !== event.rank) refuse('invalid_event', 'rank', `rank ${slice.rank}, which needs it`, event.rank);
  const last = slice.attempt - 1;
  if (event.type === 'slice.failed' ? event.attempt <= last : last >= 0) return;
  const expected = last < 0 ? 'a slice that a rank was told to fetch' : `an attempt up to ${last}`;
  refuse('out_of_order', 'sliceId', expected, event.sliceId);
}

/** Records that a rank has a slice. */
export function materializeSlice(state: LoaderState, event: Message<'slice.materialized'>, ctx: Ctx): void {
  const { sliceId } = event;
  const slice = state.slices.get(sliceId);
  if (slice !== undefined) {
    const { node } = slice.demand.sample;
    fetched(state, slice, ctx);
    transferred(state, slice, node, ctx);
    return;
  }
  ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'over' } });
}

/** Handles a rank that could not fetch a slice: the rank tries again, from another copy if this one is lost. */
export function failSlice(state: LoaderState, event: Message<'slice.failed'>, ctx: Ctx): void {
  const { sliceId, attempt, kind } = event;
  const slice = state.slices.get(sliceId);
  if (slice === undefined) return ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'over' } });
  if (!slice.sent || slice.pausedUntil !== null || attempt + 1 < slice.attempt) {
    return ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'earlier_attempt', attempt } });
  }
  const { sample } = slice.demand;
  if (kind === 'missing') {
    const node = sample.node!;
    evict(state, sample, { code: 'copy_missing' }, ctx);
    return fault(state, sample, { node, task: '', cause: 'copy_missing' }, ctx);
  }
  transferFault(state, slice, ctx);
}

/** Frees the memory of a failed try, as the node holds nothing of the sample. */
function letGo(state: LoaderState, sample: Sample): void {
  const node = sample.node!;
  free(state, sample);
  reheap(state, node);
}

function late(preprocessId: string, ctx: Ctx): void {
  ctx.emit({ type: 'preprocess.late', at: ctx.at, preprocessId, reason: { code: 'over' } });
}
