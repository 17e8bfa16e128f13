/** Which frames of a sample each rank needs, and how they get there. */
import type { Context } from '../../core/definition.ts';
import type { BatchAssignment, FrameSlice } from '../../schemas/loading.ts';
import type { LoaderState, Sample, Slice } from './state.ts';
import type { LoaderDecision } from './words.ts';

type Ctx = Context<LoaderDecision>;

/** Frames for each of the ranks that share a sequence: as even as can be, in their order; none where there are too few. */
export function evenSlices(frames: number, ranks: readonly number[]): FrameSlice[] {
  const slices: FrameSlice[] = [];
  for (let index = 0; index < ranks.length; index += 1) {
    const fromFrame = Math.floor((index * frames) / ranks.length);
    const toFrame = Math.floor(((index + 1) * frames) / ranks.length);
    if (toFrame > fromFrame) slices.push({ rank: ranks[index]!, fromFrame, toFrame });
  }
  return slices;
}

/**
 * What ranks need of one sample for all of its sequences in a batch: each frame once for each rank, by rank and frame.
 *
 * @param assignments - the sequences of the sample
 */
export function neededSlices(frames: number, assignments: readonly BatchAssignment[]): FrameSlice[] {
  const all = assignments.flatMap((one) => one.slices ?? evenSlices(frames, one.ranks));
  if (all.length < 2) return all;
  const sorted = [...all].sort((a, b) => a.rank - b.rank || a.fromFrame - b.fromFrame);
  const merged: FrameSlice[] = [];
  for (const { rank, fromFrame, toFrame } of sorted) {
    const last = merged[merged.length - 1];
    if (last === undefined || last.rank !== rank || last.toFrame < fromFrame) merged.push({ rank, fromFrame, toFrame });
    else last.toFrame = Math.max(last.toFrame, toFrame);
  }
  return merged;
}

/** Tells ranks to fetch what is registered and not under way: from their own nodes first. */
export function sendAll(state: LoaderState, samples: readonly Sample[], ctx: Ctx): void {
  const far: Slice[] = [];
  for (const { status, node, demands } of samples) {
    if (status !== 'registered') continue;
    for (const { slices } of demands) {
      for (const slice of slices) {
        if (slice.sent) continue;
        if (state.nodeOfRank.get(slice.rank) === node) send(state, slice, ctx);
        else far.push(slice);
      }
    }
  }
  for (const slice of far) send(state, slice, ctx);
}

/** Tells a rank to fetch a slice from the node that has it. */
export function send(state: LoaderState, slice: Slice, ctx: Ctx): void {
  const { id, demand, rank, from: fromFrame, to: toFrame } = slice;
  const { batch, sample } = demand;
  const { frames } = sample.media!;
  const node = sample.node!;
  const attempt = slice.attempt++;
  slice.sent = true;
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
    reason: { code: state.nodeOfRank.get(rank) === node ? 'same_node' : 'other_node' },
  });
}
