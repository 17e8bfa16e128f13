/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { ShadowLoaderEvent } from '../../generated/settings/shadow-loader.ts';
import type { BatchAssignment, DrawnSample } from '../../schemas/loading.ts';
import { pauses } from './faults.ts';
import { type LoaderState, type Sample, sliceIdOf, taskIdOf } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: LoaderState, choices: Choices): ShadowLoaderEvent {
  const at = choices.below(6) === 0 ? choices.below(300) : state.seq + state.nextTask + choices.below(8);
  const roll = choices.below(24);
  if (roll < 3 || (state.nodes.size === 0 && roll < 12)) return nodeEvent(at, choices);
  if (roll < 7 || state.samples.size === 0) return drawn(state, at, choices);
  if (roll < 13) return preprocessReport(state, at, choices);
  if (roll < 19) return sliceReport(state, at, choices);
  if (roll < 22) return planned(state, at, choices);
  switch (choices.below(12)) {
    case 0:
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
    case 1:
    case 2:
      return { type: 'batch.withdrawn', at, batchId: pick([...state.batches.keys()], choices) ?? 'b0' };
    case 3:
      return { type: 'step.completed', at, stepId: [...state.recentSteps][0] ?? 'nobody' };
    case 4:
      return { type: 'timer.fired', at: at + 10 * choices.below(7), timerId: pauses.timerId };
    default:
      return { type: 'step.completed', at, stepId: pick([...state.steps.keys()], choices) ?? 's0' };
  }
}

function nodeEvent(at: number, choices: Choices): ShadowLoaderEvent {
  const number = choices.below(4);
  const nodeId = `n${number}`;
  if (choices.below(3) === 0) return { type: 'node.lost', at, nodeId };
  const hostMemoryBytes = 40 + 20 * choices.below(4);
  const ranks = choices.below(2) === 0 ? { ranks: [2 * number, 2 * number + 1] } : {};
  const slots = choices.below(2) === 0 ? { slots: 1 + choices.below(3) } : {};
  return { type: 'node.added', at, nodeId, hostMemoryBytes, weight: 1 + choices.below(2), ...ranks, ...slots };
}

function drawn(state: LoaderState, at: number, choices: Choices): ShadowLoaderEvent {
  // Usually the event continues an open step; sometimes the step is over.
  const open = [...state.steps.values()].filter((one) => !one.closed).map((one) => one.id);
  const known = choices.below(3) > 0 ? pick(open, choices) : undefined;
  const stepId = known ?? (choices.below(10) === 0 ? [...state.recentSteps][0] : undefined) ?? `s${state.nextStep}`;
  const count = 1 + choices.below(4);
  const samples = Array.from({ length: count }, (_, index) => sampleFor(state.seq + index, choices));
  return { type: 'samples.drawn', at, stepId, samples };
}

function sampleFor(seq: number, choices: Choices): DrawnSample {
  const sampleId = choices.below(40) === 0 ? `x${seq - 1}` : `x${seq}`;
  const uses = choices.below(2) === 0 ? { uses: 1 + choices.below(2) } : {};
  const ref = choices.below(4) === 0 ? { ref: `row ${seq}` } : {};
  if (choices.below(6) === 0) return { sampleId, kind: 'text', ...uses, ...ref };
  const kind = choices.below(3) === 0 ? 'image' : 'video';
  const resolution = { width: 28 * (1 + choices.below(3)), height: 28 };
  // A sample is rarely too large for every node.
  const bytes = choices.below(25) === 0 ? 90 : 5 + choices.below(30);
  return { sampleId, kind, path: `/data/${seq}`, frames: 1 + choices.below(9), resolution, bytes, ...uses, ...ref };
}

function preprocessReport(state: LoaderState, at: number, choices: Choices): ShadowLoaderEvent {
  const live = choices.below(8) === 0 ? undefined : pick([...state.tasks.keys()], choices);
  const id = live ?? taskIdOf(choices.below(2) === 0 ? state.prefix : (state.oldPrefixes[0] ?? ''), choices.below(20));
  const sample = state.tasks.get(id);
  const nodeId = choices.below(30) === 0 ? 'n9' : (sample?.node?.id ?? `n${choices.below(4)}`);
  const reserved = sample?.bytes ?? 10;
  switch (choices.below(14)) {
    case 0:
      return { type: 'preprocess.failed', at, preprocessId: id, nodeId, kind: 'data' };
    case 1:
    case 2:
      return { type: 'preprocess.failed', at, preprocessId: id, nodeId, kind: 'infrastructure' };
    case 3:
      return { type: 'preprocess.failed', at, preprocessId: id, nodeId, kind: 'memory', bytes: reserved + 5 };
    case 4:
      return { type: 'sample.preprocessed', at, preprocessId: id, nodeId, bytes: reserved + choices.below(30) };
    default:
      return {
        type: 'sample.preprocessed',
        at,
        preprocessId: id,
        nodeId,
        bytes: Math.max(1, reserved - choices.below(4)),
      };
  }
}

function sliceReport(state: LoaderState, at: number, choices: Choices): ShadowLoaderEvent {
  const live = choices.below(10) === 0 ? undefined : pick([...state.slices.values()], choices);
  const id =
    live?.id ?? sliceIdOf(choices.below(2) === 0 ? state.prefix : (state.oldPrefixes[0] ?? ''), choices.below(20));
  const rank = choices.below(30) === 0 ? 77 : (live?.rank ?? choices.below(8));
  if (choices.below(5) > 0) return { type: 'slice.materialized', at, sliceId: id, rank };
  const attempt = Math.max(0, (live?.attempt ?? 1) - 1 - choices.below(2));
  const kind = choices.below(3) === 0 ? 'missing' : 'transfer';
  return { type: 'slice.failed', at, sliceId: id, rank, attempt, kind };
}

function planned(state: LoaderState, at: number, choices: Choices): ShadowLoaderEvent {
  const known = [...state.samples.values()].filter((one) => !one.step.closed);
  const assignments = Array.from({ length: 1 + choices.below(4) }, (_, sequence) =>
    assignmentFor(sequence, pick(known, choices), choices),
  );
  const recent = choices.below(12) === 0 ? [...state.recentBatches][0] : undefined;
  const batchId = recent ?? `b${state.nextSlice}-${state.recentBatches.size}-${state.batches.size}`;
  const stepId = known[0]?.step.id ?? 's0';
  return { type: 'batch.run', at, batchId, stepId, assignments, reason: { code: 'host' } };
}

function assignmentFor(sequence: number, sample: Sample | undefined, choices: Choices): BatchAssignment {
  const degree = 2 ** choices.below(4);
  const first = degree * choices.below(8 / degree);
  const ranks = Array.from({ length: degree }, (_, index) => first + index);
  if (sample === undefined || choices.below(10) === 0) return { sequence, degree, ranks };
  const frames = sample.media?.frames ?? 0;
  if (choices.below(4) > 0) return { sequence, sampleId: sample.id, degree, ranks };
  const fromFrame = choices.below(Math.max(1, frames));
  const toFrame = Math.max(fromFrame + 1, frames);
  const slices = choices.below(4) === 0 ? [] : [{ rank: choices.below(8), fromFrame, toFrame }];
  return { sequence, sampleId: sample.id, degree, ranks, slices };
}
