/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/prefix.ts';
import { PolicyError } from '../../errors.ts';
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
      return unknown('a node that was added, or one of the last that were lost', event.nodeId, 'nodeId');
    case 'samples.drawn':
      return checkDraw(state, event);
    case 'sample.preprocessed':
      return checkTask(state, event);
    case 'preprocess.failed':
      checkTask(state, event);
      if ((event.kind === 'memory') === (event.bytes !== undefined)) return;
      throw new PolicyError('invalid_event', {
        expected: event.kind === 'memory' ? 'bytes with `memory`' : `no bytes with \`${event.kind}\``,
        got: event.bytes,
        path: 'bytes',
      });
    case 'batch.planned':
      return checkBatch(state, event);
    case 'batch.withdrawn':
      if (state.batches.has(event.batchId) || state.recentBatches.includes(event.batchId)) return;
      return unknown('a batch that was planned', event.batchId, 'batchId');
    case 'slice.materialized':
    case 'slice.failed':
      return checkSlice(state, event);
    case 'step.completed':
      if (state.steps.has(event.stepId) || state.recentSteps.includes(event.stepId)) return;
      return unknown('a step that samples were drawn for', event.stepId, 'stepId');
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
  }
}

function unknown(expected: string, got: string, path: string): never {
  throw new PolicyError('unknown_id', { expected, got, path });
}

function checkMemory(state: LoaderState, { nodeId, hostMemoryBytes }: EventOf<'node.added'>): void {
  const used = state.nodes.get(nodeId)?.usedBytes ?? 0;
  if (hostMemoryBytes >= used) return;
  throw new PolicyError('limit_exceeded', {
    expected: `at least ${used} bytes, which ${nodeId} holds or has reserved`,
    got: hostMemoryBytes,
    path: 'hostMemoryBytes',
  });
}

function checkOpen(state: LoaderState, stepId: string): void {
  if (!state.steps.get(stepId)?.closed && !state.recentSteps.includes(stepId)) return;
  throw new PolicyError('out_of_order', { expected: 'a step that is not completed', got: stepId, path: 'stepId' });
}

function checkDraw(state: LoaderState, { stepId, samples }: EventOf<'samples.drawn'>): void {
  checkOpen(state, stepId);
  const ids = new Set<string>();
  for (let index = 0; index < samples.length; index += 1) {
    const { sampleId } = samples[index]!;
    if (state.samples.has(sampleId) || ids.has(sampleId)) {
      const expected = 'an id that no sample has that is here';
      throw new PolicyError('duplicate_id', { expected, got: sampleId, path: `samples[${index}].sampleId` });
    }
    ids.add(sampleId);
  }
}

function checkTask(state: LoaderState, { preprocessId, nodeId }: EventOf<'sample.preprocessed' | 'preprocess.failed'>) {
  const node = state.tasks.get(preprocessId)?.node;
  if (node === undefined || node === null) {
    if (wasTask(state, preprocessId)) return;
    return unknown('the id of a try that was begun', preprocessId, 'preprocessId');
  }
  if (node.id === nodeId) return;
  throw new PolicyError('invalid_event', { expected: `${node.id}, which was given it`, got: nodeId, path: 'nodeId' });
}

function checkSlice(state: LoaderState, event: EventOf<'slice.materialized' | 'slice.failed'>): void {
  const slice = state.slices.get(event.sliceId);
  if (slice === undefined) {
    if (wasSlice(state, event.sliceId)) return;
    return unknown('the id of a slice', event.sliceId, 'sliceId');
  }
  if (slice.rank !== event.rank) {
    const expected = `rank ${slice.rank}, which needs it`;
    throw new PolicyError('invalid_event', { expected, got: event.rank, path: 'rank' });
  }
  const last = slice.attempt - 1;
  if (event.type === 'slice.failed' ? event.attempt <= last : last >= 0) return;
  const expected = last < 0 ? 'a slice that a rank was told to fetch' : `an attempt up to ${last}`;
  throw new PolicyError('out_of_order', { expected, got: event.sliceId, path: 'sliceId' });
}

function checkBatch(state: LoaderState, { batchId, stepId, assignments }: EventOf<'batch.planned'>): void {
  if (state.batches.has(batchId) || state.recentBatches.includes(batchId)) {
    throw new PolicyError('duplicate_id', { expected: 'a new batch id', got: batchId, path: 'batchId' });
  }
  if (!state.steps.has(stepId) && !state.recentSteps.includes(stepId)) {
    return unknown('a step that samples were drawn for', stepId, 'stepId');
  }
  checkOpen(state, stepId);
  for (let index = 0; index < assignments.length; index += 1) {
    const one = assignments[index]!;
    const path = `assignments[${index}]`;
    checkRanks(one, path);
    if (one.sampleId === undefined) {
      if ((one.slices ?? []).length === 0) continue;
      throw new PolicyError('invalid_event', {
        expected: 'a sample with slices',
        got: undefined,
        path: `${path}.sampleId`,
      });
    }
    const sample = state.samples.get(one.sampleId);
    if (sample === undefined) return unknown('a sample that was drawn and is here', one.sampleId, `${path}.sampleId`);
    checkUse(sample, `${path}.sampleId`);
    checkFrames(sample, one, path);
  }
}

function checkRanks({ degree, ranks }: BatchAssignment, path: string): void {
  if (degree !== ranks.length) {
    const expected = `${ranks.length}, as that many ranks share it`;
    throw new PolicyError('invalid_event', { expected, got: degree, path: `${path}.degree` });
  }
  for (let index = 1; index < degree; index += 1) {
    if (ranks[index]! > ranks[index - 1]!) continue;
    const expected = 'ranks that ascend, each once';
    throw new PolicyError('invalid_event', { expected, got: ranks[index], path: `${path}.ranks` });
  }
}

function checkUse({ id, step, uses, used, demands }: Sample, path: string): void {
  if (step.closed) {
    throw new PolicyError('out_of_order', {
      expected: `a sample of an open step; ${step.id} is completed`,
      got: id,
      path,
    });
  }
  if (uses === null || used + demands.length < uses) return;
  throw new PolicyError('limit_exceeded', { expected: `at most ${uses} batches that use it`, got: id, path });
}

function checkFrames({ media }: Sample, { slices = [] }: BatchAssignment, path: string): void {
  const frames = media?.frames ?? 0;
  for (let index = 0; index < slices.length; index += 1) {
    const { fromFrame, toFrame } = slices[index]!;
    if (fromFrame < toFrame && toFrame <= frames) continue;
    throw new PolicyError('invalid_event', {
      expected: `frames within 0 to ${frames}`,
      got: `${fromFrame} to ${toFrame}`,
      path: `${path}.slices[${index}]`,
    });
  }
}
