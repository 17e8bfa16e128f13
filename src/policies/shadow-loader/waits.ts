/** What blocks what in shadow-loader: steps wait for batches, batches for slices, and slices for samples. */

import type { FaultDomain } from '../../core/rollout/shared-faults.ts';
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { nextSingleAt, pauses } from './faults.ts';
import { aheadLimit, isAhead } from './memory.ts';
import type { Batch, LoaderState, Node, Sample, Slice, Step } from './state.ts';

type Next = HeldThing | AwaitedEvent;

const sampleThing = ({ id }: Sample): HeldThing => ({ what: 'samples', id });
const sliceThing = ({ id }: Slice): HeldThing => ({ what: 'slices', id });

/** What a step waits for: its batches; without batches, its end or the next batch. */
function* stepWaits({ batches }: LoaderState, { id }: Step): Iterable<Next> {
  let hasBatches = false;
  for (const batch of batches.values()) {
    if (batch.stepId !== id) continue;
    hasBatches = true;
    yield { what: 'batches', id: batch.id };
  }
  if (hasBatches) return;
  yield { event: { type: 'batch.run', stepId: id } };
  yield { event: { type: 'step.completed', stepId: id } };
}

function stepStanding(state: LoaderState, step: Step): Standing {
  if (step.closed) {
    return { stands: `is completed, and open batches need ${step.samples} of its samples`, for: ofClosed(state, step) };
  }
  const stands = step.current ? 'is the current step' : 'is a later step';
  return { stands, for: stepWaits(state, step) };
}

function* ofClosed({ samples }: LoaderState, step: Step): Iterable<Next> {
  for (const sample of samples.values()) if (sample.step === step) yield sampleThing(sample);
}

/** What a sample waits for if no batch needs it. */
const nextUse = ({ step }: Sample): readonly Next[] => [{ what: 'steps', id: step.id }];

/** What the first waiting sample, and with it all others, waits for: a node, a slot, or memory. */
function* room(state: LoaderState, sample: Sample): Iterable<Next> {
  const { largestBudget, nodes, openSteps, lastAhead } = state;
  const { bytes, demands, step } = sample;
  if (largestBudget === 0) {
    yield { event: { type: 'node.added', hostMemoryBytes: bytes } };
    return;
  }
  if (isAhead(sample)) yield { what: 'steps', id: openSteps.peek()!.id };
  if (demands.length === 0 && step.order > lastAhead) return;
  for (const node of nodes.values()) yield* roomOn(state, sample, node);
}

function* roomOn(state: LoaderState, sample: Sample, node: Node): Iterable<Next> {
  const isFull = node.heapIndex < 0;
  const isTooSmall = sample.bytes > (isAhead(sample) ? aheadLimit(state, node) : node.hostMemoryBytes);
  if (isTooSmall) return;
  for (const one of node.samples) {
    // A sample that no batch needs makes room at once for a sample that a batch waits for.
    const isInTheWay = isFull ? one.task !== null : one.heapIndex < 0 || sample.demands.length === 0;
    if (isInTheWay) yield sampleThing(one);
  }
}

function waiting(state: LoaderState, sample: Sample): Standing {
  const first = state.waiting.peek()!;
  if (first === sample) {
    const domain = state.faults.find({ scope: 'loader', id: null });
    const single = nextSingleAt(state);
    const timers = single === undefined ? [] : [timer(single)];
    if (domain?.suspension != null) {
      const stands = `is next to be tried: ${domain.failures} tries of ${domain.failing.size} samples failed one after the other on nodes`;
      return { stands, since: domain.suspension.at, for: [...triesOf(domain, state), ...timers] };
    }
    return { stands: 'is next to be preprocessed', for: [...room(state, sample), ...timers] };
  }
  return { stands: 'is queued to be preprocessed', for: [sampleThing(first)] };
}

const timer = (dueAt: number): AwaitedEvent => ({ event: { type: 'timer.fired', timerId: pauses.timerId }, dueAt });

/** The single tries that are being made. */
function* triesOf({ tries }: FaultDomain, { tasks }: LoaderState): Iterable<Next> {
  for (const id of tries.keys()) {
    const sample = tasks.get(id);
    if (sample !== undefined) yield sampleThing(sample);
  }
}

/** What a paused sample waits for: the end of its pause, or the end of its step, with which it leaves. */
function* pausedWaits({ pausedUntil, step }: Sample): Iterable<Next> {
  yield timer(pausedUntil!);
  if (!step.closed) yield { event: { type: 'step.completed', stepId: step.id } };
}

function* slicesOf({ demands }: Sample): Iterable<Next> {
  for (const { slices } of demands) for (const one of slices) if (!one.fetched) yield sliceThing(one);
}

function sampleStanding(state: LoaderState, sample: Sample): Standing {
  const { bytes, demands, node, status, task } = sample;
  switch (status) {
    case 'waiting':
      return waiting(state, sample);
    case 'paused':
      return {
        stands: `has failed ${sample.failed} times on nodes, and is put off${sample.asideAt === null ? '' : ': its failures wait to be compared with a success of another'}`,
        since: sample.failedAt!,
        for: pausedWaits(sample),
      };
    case 'unplaced':
      return {
        stands: `is set aside: no node that is there has ${bytes} bytes`,
        for: [{ event: { type: 'node.added', hostMemoryBytes: bytes } }],
      };
    case 'preprocessing': {
      const { id } = node!;
      return {
        stands: `is being preprocessed on node ${id}`,
        for: [{ event: { type: 'sample.preprocessed', preprocessId: task!, nodeId: id }, by: id }],
      };
    }
    default: {
      const where = node === null ? 'is text' : `is on node ${node.id}`;
      if (demands.length > 0) return { stands: `${where}, and ranks fetch it`, for: slicesOf(sample) };
      return { stands: `${where}, and no batch needs it now`, for: nextUse(sample) };
    }
  }
}

function* batchWaits({ demands }: Batch): Iterable<Next> {
  for (const { slices, open } of demands)
    if (open > 0) for (const one of slices) if (!one.fetched) yield sliceThing(one);
}

function* turnWaits({ transfers, slices }: LoaderState): Iterable<Next> {
  for (const { tries } of transfers.domains)
    for (const id of tries.keys()) {
      const slice = slices.get(id);
      if (slice !== undefined) yield sliceThing(slice);
    }
  const next = transfers.nextTryAt();
  if (next !== undefined) yield timer(next);
}

function sliceStanding(state: LoaderState, slice: Slice): Standing {
  const { rank, sent, id: sliceId, failed, pausedUntil } = slice;
  const { sample } = slice.demand;
  if (pausedUntil === 0) {
    const stands = `is for rank ${rank}, and waits for its turn: transfers fail one after the other, so that there are single tries only`;
    return { stands, for: turnWaits(state) };
  }
  if (pausedUntil !== null) {
    return {
      stands: `could not be fetched by rank ${rank} ${failed} times, and is put off`,
      for: [timer(pausedUntil)],
    };
  }
  if (!sent) return { stands: `is for rank ${rank}, and its sample is not ready`, for: [sampleThing(sample)] };
  return {
    stands: `is fetched by rank ${rank} from node ${sample.node!.id}`,
    for: [{ event: { type: 'slice.materialized', sliceId, rank }, by: `rank ${rank}` }],
  };
}

export const waits: Waits<LoaderState> = {
  samples: {
    ids: ({ samples }) => samples.keys(),
    of: (state, id) => {
      const found = state.samples.get(id);
      return found && sampleStanding(state, found);
    },
  },
  batches: {
    ids: ({ batches }) => batches.keys(),
    of: ({ batches }, id) => {
      const found = batches.get(id);
      if (found === undefined) return undefined;
      const { fetched, open, plannedAt: since } = found;
      return { stands: `has ${fetched} of ${fetched + open} slices`, since, for: batchWaits(found) };
    },
  },
  slices: {
    ids: ({ slices }) => slices.keys(),
    of: (state, id) => {
      const found = state.slices.get(id);
      return found && sliceStanding(state, found);
    },
  },
  steps: {
    ids: ({ steps }) => steps.keys(),
    of: (state, id) => {
      const found = state.steps.get(id);
      return found && stepStanding(state, found);
    },
  },
};
