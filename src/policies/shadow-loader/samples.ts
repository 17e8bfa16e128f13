/** Handles samples: they are drawn, wait, are used by batches, and leave. */
import { refuse } from '../../errors.ts';
import type { DrawnSample } from '../../schemas/loading.ts';
import type { Message } from '../../schemas/messages.ts';
import { free, notAhead, reheap, setIdle } from './memory.ts';
import type { Ctx } from './schema.ts';
import { endSlicePause, finishBatch, forgetSlices } from './slices.ts';
import { byBatch, type Demand, type LoaderState, type Media, type Sample, type Step } from './state.ts';
import { checkOpen, forget, stepFor } from './steps.ts';

export function checkDraw(state: LoaderState, { stepId, samples }: Message<'samples.drawn'>): void {
  checkOpen(state, stepId);
  const ids = new Set<string>();
  for (let index = 0; index < samples.length; index += 1) {
    const { sampleId } = samples[index]!;
    if (state.samples.has(sampleId) || ids.has(sampleId)) {
      refuse('duplicate_id', `samples[${index}].sampleId`, 'an id that no sample has that is here', sampleId);
    }
    ids.add(sampleId);
  }
}

/** Takes samples in as metadata: the policy knows the shapes of tensors, not the tensors. */
export function draw(state: LoaderState, { stepId, samples }: Message<'samples.drawn'>, ctx: Ctx): void {
  const step = stepFor(state, stepId);
  for (const one of samples) {
    const sample = newSample(state, step, one);
    state.samples.set(sample.id, sample);
    step.samples += 1;
    step.unwanted.add(sample);
    if (sample.media !== null) state.waiting.update(sample);
    giveShape(state, sample, 'drawn', ctx);
  }
  state.dirty = true;
}

/** Tells the host the shapes that represent the tensors of a sample on the controller. */
export function giveShape(state: LoaderState, sample: Sample, code: 'drawn' | 'host_restarted', ctx: Ctx): void {
  const { id: sampleId, ref, media, bytes } = sample;
  ctx.emit({
    type: 'sample.placeholder',
    at: ctx.at,
    sampleId,
    shapes: media === null ? [] : [shapeOf(media, bytes, state.config.channels)],
    ...(ref === null ? undefined : { ref }),
    reason: { code },
  });
}

function newSample(state: LoaderState, step: Step, one: DrawnSample): Sample {
  return {
    id: one.sampleId,
    step,
    seq: state.seq++,
    ref: one.ref ?? null,
    media: one.kind === 'text' ? null : mediaOf(one),
    uses: one.uses ?? null,
    used: 0,
    bytes: one.kind === 'text' ? 0 : one.bytes,
    status: one.kind === 'text' ? 'text' : 'waiting',
    cause: 'drawn',
    node: null,
    task: null,
    ahead: false,
    infrastructureFailures: 0,
    failed: 0,
    failedAt: null,
    losses: 0,
    pausedUntil: null,
    asideAt: null,
    lastTry: 0,
    dataFailures: 0,
    avoid: null,
    demands: [],
    heapIndex: -1,
    gone: false,
  };
}

/** Copies the media: the event belongs to the host. */
function mediaOf({ kind, path, frames, resolution }: Media): Media {
  const { width, height } = resolution;
  return { kind, path, frames, resolution: { width, height } };
}

function shapeOf({ kind, frames, resolution }: Media, bytes: number, channels: number) {
  const name = kind === 'video' ? ('pixel_values_videos' as const) : ('pixel_values' as const);
  const shape = [frames, channels, resolution.height, resolution.width];
  return { name, shape, bytesPerFrame: Math.ceil(bytes / frames) };
}

/** Queues a sample again, at its old place. The sample must hold no memory. */
export function requeue(state: LoaderState, sample: Sample, cause: Sample['cause']): void {
  sample.status = 'waiting';
  sample.cause = cause;
  // Slices in transit must be fetched from another copy.
  for (const { slices } of sample.demands) {
    for (const slice of slices) {
      slice.sent = false;
      endSlicePause(state, slice);
    }
  }
  state.waiting.update(sample);
  state.dirty = true;
}

/** Takes a sample out of the queue until there is a node that could hold it. */
export function setAside(state: LoaderState, sample: Sample, ctx: Ctx): void {
  const { id: sampleId, step, ref, bytes } = sample;
  const { largestBudget: largestBudgetBytes, lostBudget: lostBudgetBytes } = state;
  state.waiting.remove(sample);
  sample.status = 'unplaced';
  state.unplaced.update(sample);
  const echoed = ref === null ? undefined : { ref };
  const reason = { code: 'node_away', bytes, largestBudgetBytes, lostBudgetBytes } as const;
  ctx.emit({ type: 'sample.unplaced', at: ctx.at, sampleId, stepId: step.id, ...echoed, reason });
}

/** Puts a sample that was set aside back into the queue, at its old place. */
export function placeAgain(state: LoaderState, sample: Sample): void {
  state.unplaced.remove(sample);
  sample.status = 'waiting';
  state.waiting.update(sample);
  state.dirty = true;
}

/** Adds the demand of a batch to its sample. */
export function want(state: LoaderState, demand: Demand): void {
  const { sample } = demand;
  setIdle(sample, false);
  notAhead(sample);
  sample.step.unwanted.delete(sample);
  demand.index = sample.demands.push(demand) - 1;
  if (sample.status === 'waiting') state.waiting.update(sample);
  state.dirty = true;
}

/** Removes a demand; the sample stays for other batches of its step, or leaves. */
export function unwant(state: LoaderState, demand: Demand, ctx: Ctx): void {
  const { sample } = demand;
  const last = sample.demands.pop()!;
  if (last !== demand) {
    sample.demands[demand.index] = last;
    last.index = demand.index;
  }
  demand.batch.waiting -= 1;
  rest(state, sample, ctx);
}

/** Decides whether a sample leaves after a use, or stays until the next use. */
export function rest(state: LoaderState, sample: Sample, ctx: Ctx): void {
  if (sample.used === sample.uses) return leave(state, sample, { code: 'last_use', uses: sample.used }, ctx);
  if (sample.demands.length > 0) return;
  if (sample.step.closed) return leave(state, sample, { code: 'step_completed' }, ctx);
  sample.step.unwanted.add(sample);
  setIdle(sample, true);
  if (sample.status === 'waiting') state.waiting.update(sample);
  state.dirty = true;
}

/** Removes a sample that is not needed any more. */
export function leave(
  state: LoaderState,
  sample: Sample,
  reason: Message<'sample.released'>['reason'],
  ctx: Ctx,
): void {
  if (sample.node !== null) evict(state, sample, reason, ctx);
  else {
    const { id: sampleId, ref } = sample;
    const echoed = ref === null ? undefined : { ref };
    ctx.emit({ type: 'sample.released', at: ctx.at, sampleId, ...echoed, reason });
  }
  remove(state, sample);
}

/** Frees the memory that a sample has on its node; after that the sample must leave or be queued. */
export function evict(state: LoaderState, sample: Sample, reason: Message<'sample.evict'>['reason'], ctx: Ctx): void {
  const { id: sampleId, bytes } = sample;
  const node = sample.node!;
  ctx.emit({ type: 'sample.evict', at: ctx.at, sampleId, nodeId: node.id, bytes, reason });
  free(state, sample);
  reheap(state, node);
}

/** Gives a sample up; batches that wait for the sample continue without it. */
export function drop(state: LoaderState, sample: Sample, reason: Message<'sample.dropped'>['reason'], ctx: Ctx): void {
  const { id: sampleId, step, ref } = sample;
  const echoed = ref === null ? undefined : { ref };
  ctx.emit({ type: 'sample.dropped', at: ctx.at, sampleId, stepId: step.id, ...echoed, reason });
  if (sample.node !== null) evict(state, sample, { code: 'dropped' }, ctx);
  remove(state, sample);
  for (const demand of sample.demands.sort(byBatch)) {
    const { batch } = demand;
    forgetSlices(state, demand);
    batch.missing.push(sampleId);
    batch.waiting -= 1;
    finishBatch(state, batch, ctx);
  }
  sample.demands.length = 0;
}

function remove(state: LoaderState, sample: Sample): void {
  const { step } = sample;
  if (sample.status === 'waiting') state.waiting.remove(sample);
  else if (sample.status === 'unplaced') state.unplaced.remove(sample);
  else if (sample.status === 'paused') state.pauses.remove(sample);
  if (!state.faults.isQuiet) state.faults.forget(sample.id);
  state.samples.delete(sample.id);
  sample.gone = true;
  step.unwanted.delete(sample);
  step.samples -= 1;
  forget(state, step);
  state.dirty = true;
}
