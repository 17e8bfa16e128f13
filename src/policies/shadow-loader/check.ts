/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { BatchAssignment } from '../../schemas/loading.ts';
import { wasSlice, wasTask } from './ids.ts';
import type { LoaderState, Sample } from './state.ts';
import type { EventOf, LoaderEvent } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: LoaderState, event: LoaderEvent): void {
  switch (event.type) {
    case 'node.added':
      return checkMemory(state, event);
    case 'node.lost':
      if (state.nodes.has(event.nodeId) || state.lost.has(event.nodeId)) return;
      return refuse('unknown_id', 'nodeId', 'a node that was added, or one of the last that were lost', event.nodeId);
    case 'samples.drawn':
      return checkDraw(state, event);
    case 'sample.preprocessed':
      return checkTask(state, event);
    case 'preprocess.failed':
      checkTask(state, event);
      if ((event.kind === 'memory') === (event.bytes !== undefined)) return;
      return refuse(
        'invalid_event',
        'bytes',
        event.kind === 'memory' ? 'bytes with `memory`' : `no bytes with \`${event.kind}\``,
        event.bytes,
      );
    case 'batch.planned':
      return checkBatch(state, event);
    case 'batch.withdrawn':
      if (state.batches.has(event.batchId) || state.recentBatches.includes(event.batchId)) return;
      return refuse('unknown_id', 'batchId', 'a batch that was planned', event.batchId);
    case 'slice.materialized':
    case 'slice.failed':
      return checkSlice(state, event);
    case 'step.completed':
      if (state.steps.has(event.stepId) || state.recentSteps.includes(event.stepId)) return;
      return refuse('unknown_id', 'stepId', 'a step that samples were drawn for', event.stepId);
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
  }
}

function checkMemory(state: LoaderState, { nodeId, hostMemoryBytes }: EventOf<'node.added'>): void {
  const used = state.nodes.get(nodeId)?.usedBytes ?? 0;
  if (hostMemoryBytes >= used) return;
  refuse(
    'limit_exceeded',
    'hostMemoryBytes',
    `at least ${used} bytes, which ${nodeId} holds or has reserved`,
    hostMemoryBytes,
  );
}

function checkOpen(state: LoaderState, stepId: string): void {
  if (!state.steps.get(stepId)?.closed && !state.recentSteps.includes(stepId)) return;
  refuse('out_of_order', 'stepId', 'a step that is not completed', stepId);
}

function checkDraw(state: LoaderState, { stepId, samples }: EventOf<'samples.drawn'>): void {
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

function checkTask(state: LoaderState, { preprocessId, nodeId }: EventOf<'sample.preprocessed' | 'preprocess.failed'>) {
  const node = state.tasks.get(preprocessId)?.node;
  if (node === undefined || node === null) {
    if (wasTask(state, preprocessId)) return;
    return refuse('unknown_id', 'preprocessId', 'the id of a try that was begun', preprocessId);
  }
  if (node.id === nodeId) return;
  refuse('invalid_event', 'nodeId', `${node.id}, which was given it`, nodeId);
}

function checkSlice(state: LoaderState, event: EventOf<'slice.materialized' | 'slice.failed'>): void {
  const slice = state.slices.get(event.sliceId);
  if (slice === undefined) {
    if (wasSlice(state, event.sliceId)) return;
    return refuse('unknown_id', 'sliceId', 'the id of a slice', event.sliceId);
  }
  if (slice.rank !== event.rank) refuse('invalid_event', 'rank', `rank ${slice.rank}, which needs it`, event.rank);
  const last = slice.attempt - 1;
  if (event.type === 'slice.failed' ? event.attempt <= last : last >= 0) return;
  const expected = last < 0 ? 'a slice that a rank was told to fetch' : `an attempt up to ${last}`;
  refuse('out_of_order', 'sliceId', expected, event.sliceId);
}

function checkBatch(state: LoaderState, { batchId, stepId, assignments }: EventOf<'batch.planned'>): void {
  if (state.batches.has(batchId) || state.recentBatches.includes(batchId)) {
    refuse('duplicate_id', 'batchId', 'a new batch id', batchId);
  }
  if (!state.steps.has(stepId) && !state.recentSteps.includes(stepId)) {
    return refuse('unknown_id', 'stepId', 'a step that samples were drawn for', stepId);
  }
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
