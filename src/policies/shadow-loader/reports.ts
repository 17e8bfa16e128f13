/** What nodes and ranks report. */
import type { Context } from '../../core/definition.ts';
import { fetched } from './batches.ts';
import { endTask, free, freeBytes, reheap, resize, setIdle } from './memory.ts';
import { drop, evict, requeue } from './samples.ts';
import { sendAgain, sendAll } from './slices.ts';
import type { Cause, LoaderState, Sample } from './state.ts';
import type { EventOf, LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

/** A node holds the tensors of a sample: ranks that wait for them may fetch them. */
export function preprocessed(state: LoaderState, event: EventOf<'sample.preprocessed'>, ctx: Ctx): void {
  const { preprocessId, bytes } = event;
  const sample = state.tasks.get(preprocessId);
  if (sample === undefined) return late(preprocessId, ctx);
  const node = sample.node!;
  const reservedBytes = sample.bytes;
  if (bytes - reservedBytes > freeBytes(node)) {
    // The node has taken more than it was given; what it took has no room.
    evict(state, sample, { code: 'memory', reservedBytes, usedBytes: bytes }, ctx);
    sample.bytes = bytes;
    return tryAgain(state, sample, 'memory', ctx);
  }
  endTask(state, sample, node);
  resize(sample, bytes);
  sample.status = 'registered';
  sample.avoid = null;
  setIdle(sample, sample.demands.length === 0);
  reheap(state, node);
  const reason = { code: 'preprocessed', reservedBytes } as const;
  ctx.emit({ type: 'sample.registered', at: ctx.at, sampleId: sample.id, nodeId: node.id, bytes, reason });
  if (sample.demands.length > 0) sendAll(state, [sample], ctx);
}

/** A node could not preprocess a sample: it is tried again, on another node if there is one. */
export function preprocessFailed(state: LoaderState, event: EventOf<'preprocess.failed'>, ctx: Ctx): void {
  const sample = state.tasks.get(event.preprocessId);
  if (sample === undefined) return late(event.preprocessId, ctx);
  const node = sample.node!;
  letGo(state, sample);
  if (event.kind === 'data') {
    sample.dataFailures += 1;
    const { dataFailures: failures } = sample;
    const budget = state.config.retry.data;
    if (failures > budget) return drop(state, sample, { code: 'data', failures, budget }, ctx);
    return requeue(state, sample, 'retry');
  }
  if (event.kind === 'memory') sample.bytes = Math.max(sample.bytes, event.bytes!);
  else sample.avoid = node;
  tryAgain(state, sample, event.kind === 'memory' ? 'memory' : 'retry', ctx);
}

/** After a fault that is not that of the sample. It must hold no memory. */
export function tryAgain(state: LoaderState, sample: Sample, cause: Cause, ctx: Ctx): void {
  sample.infrastructureFailures += 1;
  const { infrastructureFailures: failures } = sample;
  const budget = state.config.retry.infrastructure;
  sample.status = 'waiting';
  if (failures > budget) drop(state, sample, { code: 'infrastructure', failures, budget }, ctx);
  else requeue(state, sample, cause);
}

/** A rank has a slice. */
export function sliceMaterialized(state: LoaderState, event: EventOf<'slice.materialized'>, ctx: Ctx): void {
  const { sliceId } = event;
  const slice = state.slices.get(sliceId);
  if (slice !== undefined) return fetched(state, slice, ctx);
  ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'over' } });
}

/** A rank could not fetch a slice: it tries again, from another copy where this one is gone. */
export function sliceFailed(state: LoaderState, event: EventOf<'slice.failed'>, ctx: Ctx): void {
  const { sliceId, attempt, kind } = event;
  const slice = state.slices.get(sliceId);
  if (slice === undefined) return ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'over' } });
  if (!slice.sent || attempt + 1 < slice.attempt) {
    return ctx.emit({ type: 'slice.late', at: ctx.at, sliceId, reason: { code: 'earlier_attempt', attempt } });
  }
  const { sample } = slice.demand;
  if (kind === 'missing') {
    evict(state, sample, { code: 'copy_missing' }, ctx);
    return tryAgain(state, sample, 'copy_missing', ctx);
  }
  slice.failures += 1;
  const { failures } = slice;
  const budget = state.config.retry.transfer;
  if (failures > budget) drop(state, sample, { code: 'transfer', failures, budget }, ctx);
  else sendAgain(state, slice, ctx);
}

/** The memory of a failed try is free: the node holds nothing of the sample. */
function letGo(state: LoaderState, sample: Sample): void {
  const node = sample.node!;
  free(state, sample);
  reheap(state, node);
}

function late(preprocessId: string, ctx: Ctx): void {
  ctx.emit({ type: 'preprocess.late', at: ctx.at, preprocessId, reason: { code: 'over' } });
}
