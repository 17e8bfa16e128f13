/** Handles slices: the frames of a sample that each rank needs, their transfers, and the end of a batch. */

import { mustWait, type Where } from '../../core/rollout/shared-faults.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import { type Batch, byBatch, type Demand, type LoaderState, type Node, type Sample, type Slice } from './state.ts';

/**
 * Splits frames over the ranks that share a sequence: as evenly as possible, in their order; if there are too few frames, some
 * ranks get none.
 */
function evenSlices(frames: number, ranks: readonly number[]): FrameSlice[] {
  const slices: FrameSlice[] = [];
  for (let index = 0; index < ranks.length; index += 1) {
    const fromFrame = Math.floor((index * frames) / ranks.length);
    const toFrame = Math.floor(((index + 1) * frames) / ranks.length);
    if (toFrame > fromFrame) slices.push({ rank: ranks[index]!, fromFrame, toFrame });
  }
  return slices;
}

/**
 * Returns the slices of one sample for all sequences in a batch, sorted by rank and frame; a rank gets each frame at most once.
 *
 * @param assignments - the sequences of the sample
 */
export function neededSlices(frames: number, assignments: readonly BatchAssignment[]): FrameSlice[] {
  const [first] = assignments;
  if (assignments.length === 1 && first!.slices === undefined) return evenSlices(frames, first!.ranks);
  const all = assignments.flatMap((one) => one.slices ?? evenSlices(frames, one.ranks));
  const sorted = [...all].sort((a, b) => a.rank - b.rank || a.fromFrame - b.fromFrame);
  const merged: FrameSlice[] = [];
  for (const { rank, fromFrame, toFrame } of sorted) {
    const last = merged[merged.length - 1];
    if (last === undefined || last.rank !== rank || last.toFrame < fromFrame) merged.push({ rank, fromFrame, toFrame });
    else last.toFrame = Math.max(last.toFrame, toFrame);
  }
  return merged;
}

/** Tells ranks to fetch the slices of registered samples that are not yet under way; slices on the own node of a rank go first. */
export function sendAll(state: LoaderState, samples: readonly Sample[], ctx: Ctx): void {
  const far: Slice[] = [];
  for (let index = 0; index < samples.length; index += 1) {
    const { status, node, demands } = samples[index]!;
    if (status !== 'registered') continue;
    if (demands.length > 1) inOrder(demands);
    for (const { slices } of demands) {
      for (let at = 0; at < slices.length; at += 1) {
        const slice = slices[at]!;
        if (slice.sent || slice.fetched || slice.pausedUntil !== null) continue;
        if (state.nodeOfRank.get(slice.rank) === node) send(state, slice, 'same_node', ctx);
        else far.push(slice);
      }
    }
  }
  for (let at = 0; at < far.length; at += 1) send(state, far[at]!, 'other_node', ctx);
}

function inOrder(demands: Demand[]): void {
  demands.sort(byBatch);
  demands.forEach((one, index) => {
    one.index = index;
  });
}

/** Tells a rank to fetch a slice once more. */
export function sendAgain(state: LoaderState, slice: Slice, ctx: Ctx): void {
  const isNear = state.nodeOfRank.get(slice.rank) === slice.demand.sample.node;
  send(state, slice, isNear ? 'same_node' : 'other_node', ctx);
}

/** Tells a rank to fetch a slice from the node that holds the slice. */
function send(state: LoaderState, slice: Slice, code: 'same_node' | 'other_node', ctx: Ctx): void {
  const { id, demand, rank, from: fromFrame, to: toFrame } = slice;
  const { batch, sample } = demand;
  const { frames } = sample.media!;
  const node = sample.node!;
  if (waitsInTurn(state, slice, ctx.at)) return putOffSlice(state, slice, 0);
  const { transfers } = state;
  const single = transfers.isQuiet ? undefined : transfers.begin(placesOf(slice), id, id, ctx.at);
  const attempt = slice.attempt++;
  slice.sent = true;
  slice.lastSend = state.nextSend++;
  ctx.emit({
    type: 'sample.materialize',
    at: ctx.at,
    sliceId: id,
    attempt,
    batchId: batch.id,
    sampleId: sample.id,
    rank,
    fromFrame,
    toFrame,
    from: node.id,
    bytes: Math.round(sample.bytes * ((toFrame - fromFrame) / frames)),
    reason: single ?? { code },
  });
}

/** The domains of all transfers, and of those from a node. */
export const whole: Where = { scope: 'loader', id: null };
export const transfersFrom = ({ id }: Node): Where => ({ scope: 'loader', id: `transfers from ${id}`.slice(0, 512) });

/** The domains in which a slice is fetched. */
const placesOf = ({ demand: { sample } }: Slice): readonly Where[] =>
  sample.node === null ? [whole] : [whole, transfersFrom(sample.node)];

/** Whether a slice has to wait, since only single tries are made. */
export const waitsInTurn = ({ transfers }: LoaderState, slice: Slice, at: number): boolean =>
  !transfers.isQuiet && transfers.suspendedAmong(placesOf(slice)).some((one) => mustWait(one, slice.id, at));

/** Puts off the next try of a slice until a time or, with 0, until its turn for a single try. */
export function putOffSlice({ parked, slicePauses }: LoaderState, slice: Slice, until: number): void {
  slice.pausedUntil = until;
  if (until === 0) parked.add(slice);
  else slicePauses.update(slice);
}

/** Ends the pause of a slice, if its next try was put off. */
export function endSlicePause({ parked, slicePauses }: LoaderState, slice: Slice): void {
  if (slice.pausedUntil === null) return;
  if (!parked.delete(slice)) slicePauses.remove(slice);
  slice.pausedUntil = null;
}

/** Forgets the slices that a demand still waits for. */
export function forgetSlices(state: LoaderState, demand: Demand): void {
  for (const slice of demand.slices) {
    if (slice.fetched) continue;
    state.slices.delete(slice.id);
    endSlicePause(state, slice);
    if (!state.transfers.isQuiet) state.transfers.forget(slice.id);
  }
  demand.batch.open -= demand.open;
  demand.open = 0;
}

/** Reports a batch as ready if it has all the slices that it can get. */
export function finishBatch(state: LoaderState, batch: Batch, ctx: Ctx): void {
  if (batch.waiting > 0) return;
  const { id: batchId, stepId, fetched: slices, missing } = batch;
  const waitedSeconds = ctx.at - batch.plannedAt;
  const reason: Message<'batch.materialized'>['reason'] =
    missing.length === 0
      ? { code: 'delivered', waitedSeconds }
      : { code: 'samples_dropped', waitedSeconds, dropped: missing.length };
  ctx.emit({ type: 'batch.materialized', at: ctx.at, batchId, stepId, slices, missing: [...missing], reason });
  endBatch(state, batch);
}

/** Ends a batch, complete or given up. */
export function endBatch(state: LoaderState, batch: Batch): void {
  state.batches.delete(batch.id);
  state.recentBatches.add(batch.id);
}
