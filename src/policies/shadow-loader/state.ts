/** The state that shadow-loader owns: metadata of samples, nodes, steps and batches, never a tensor. */
import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { LinkedList } from '../../core/collections/linked-list.ts';
import { mintedId, prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import { noFaults, sharedFaults, sharedFaultsOf } from '../../core/rollout/shared-faults.ts';
import type { ShadowLoaderConfig } from '../../generated/settings/shadow-loader.ts';
import { batchId, nodeId, preprocessId, rank, sampleId, sliceId, stepId, visualSample } from '../../schemas/loading.ts';
import { count, positiveCount, ref, seconds } from '../../schemas/units.ts';

const zero = () => 0;
const outside = () => -1;

/**
 * Makes a pointer, which is saved as the id of its target. After loading, the pointer has only this id until `link` replaces the
 * id by the target.
 */
const pointer = <T extends { readonly id: string }>(id: z.ZodType<string, string>) =>
  z.codec(id, z.custom<T>(), { decode: (id) => ({ id }) as T, encode: (one) => one.id });
// Each type is declared explicitly, because the objects point at each other.
const toStep: z.ZodType<Step, string> = pointer<Step>(stepId);
const toNode: z.ZodType<Node, string> = pointer<Node>(nodeId);
const toSample: z.ZodType<Sample, string> = pointer<Sample>(sampleId);
/** A forgotten node is not saved: a later node with the same id is a different node. */
const toAvoided: z.ZodType<Node | null, string | null> = z.codec(nodeId.nullable(), z.custom<Node | null>(), {
  decode: (id) => (id === null ? null : ({ id } as Node)),
  encode: (one) => (one === null || one.forgotten ? null : one.id),
});

/** Makes a list that saves only some of its items. */
const only = <S extends z.ZodType>(items: z.ZodArray<S>, isSaved: (item: z.output<S>) => boolean) =>
  z.codec(items, z.custom<z.output<S>[]>(), {
    decode: (all) => all as z.output<S>[],
    encode: (all) => all.filter(isSaved) as never,
  });

/** Orders by the draw of steps and samples. */
export const byAge = (a: Sample, b: Sample): number => a.step.order - b.step.order || a.seq - b.seq;
/** Orders by the planning of batches. */
export const byBatch = (a: Demand, b: Demand): number => a.batch.order - b.batch.order;
/** Orders samples that a batch waits for first; within both kinds, samples that are set aside come last. */
const byUrgency = (a: Sample, b: Sample): number =>
  Number(b.demands.length > 0) - Number(a.demands.length > 0) ||
  Number(a.asideAt !== null) - Number(b.asideAt !== null) ||
  byAge(a, b);
const smallestFirst = (a: Sample, b: Sample): number => a.bytes - b.bytes || byAge(a, b);
const byPause = (a: Sample, b: Sample): number => a.pausedUntil! - b.pausedUntil! || byAge(a, b);
const leastUrgentFirst = (a: Sample, b: Sample): number => byAge(b, a);

/** Returns a node's bytes to preprocess, divided by its weight (speed). */
export const loadOf = (node: Node): number => node.queuedBytes / node.weight;
/** Orders the least loaded first: by bytes to preprocess, samples to preprocess, memory in use, and id. */
export const byLoad = (a: Node, b: Node): number =>
  loadOf(a) - loadOf(b) || a.queued - b.queued || a.usedBytes - b.usedBytes || (a.id < b.id ? -1 : 1);

const node = z.strictObject({
  id: nodeId,
  hostMemoryBytes: count,
  weight: z.number().positive(),
  slots: positiveCount.nullable(),
  /** Ranks that run on the node. */
  ranks: setOf(rank),
  /** Whether the node is present; a lost node is remembered for a while. */
  active: derived(() => false),
  /** Whether the node was lost so long ago that it is no longer remembered. */
  forgotten: derived(() => false),
  /** Bytes that are reserved or held. */
  usedBytes: derived(zero),
  aheadBytes: derived(zero),
  /** Number of samples that the node has to preprocess. */
  queued: derived(zero),
  queuedBytes: derived(zero),
  samples: derived(() => new Set<Sample>()),
  /** Registered samples that no open batch needs, the least urgent first. */
  idle: derived(() => new IndexedHeap<Sample>(leastUrgentFirst)),
  idleBytes: derived(zero),
  heapIndex: derived(outside),
});
export interface Node extends z.output<typeof node> {}

const step = z.strictObject({
  id: stepId,
  order: count,
  closed: z.boolean(),
  /** Whether the step is the first open one. */
  current: derived(() => false),
  /** Number of samples of the step that have not left. */
  samples: derived(zero),
  /** Samples of the step that no open batch needs. */
  unwanted: derived(() => new Set<Sample>()),
  /** For a later step: bytes that each node holds ahead for it. */
  aheadBytes: derived(() => new Map<Node, number>()),
  previous: derived<Step | null>(),
  next: derived<Step | null>(),
});
export interface Step extends z.output<typeof step> {}

const media = visualSample.pick({ kind: true, path: true, frames: true, resolution: true });
/** The visual part of a sample. */
export type Media = z.output<typeof media>;

const sample = z.strictObject({
  id: sampleId,
  step: toStep,
  /** Number in the order of draws. */
  seq: count,
  ref: ref.nullable(),
  /** The media; `null` for text. */
  media: media.nullable(),
  /** Number of batches that will use the sample; `null` if unknown. */
  uses: positiveCount.nullable(),
  used: count,
  /** Expected bytes in host memory; the actual bytes once the sample is registered. */
  bytes: count,
  /** The status; `unplaced` means set aside, because no present node could hold the sample. */
  status: z.enum(['waiting', 'paused', 'unplaced', 'preprocessing', 'registered', 'text']),
  /** The reason why the sample is queued. */
  cause: z.enum(['drawn', 'node_lost', 'retry', 'memory', 'copy_missing', 'displaced', 'host_restarted']),
  /** The node that preprocesses or holds the sample. */
  node: toNode.nullable(),
  /** Id of the try on that node while the sample is being preprocessed. */
  task: preprocessId.nullable(),
  /** Whether the sample counts as held ahead, because its step is a later one. */
  ahead: z.boolean(),
  /** Failures of nodes that are proven to be the sample's own. */
  infrastructureFailures: count,
  /** All failed tries on nodes that are not forgotten, and the end of the last one, in seconds. */
  failed: count,
  failedAt: seconds.nullable(),
  /** Number of nodes in a row that were lost while preprocessing this sample. */
  losses: count,
  /** Time of the next try, in seconds, while that try is put off. */
  pausedUntil: seconds.nullable(),
  /** Time since which unjudged failures exceed the budget, in seconds. */
  asideAt: seconds.nullable(),
  /** Number of the latest try. */
  lastTry: count,
  dataFailures: count,
  /** The node of the latest fault; other nodes are tried first. */
  avoid: toAvoided,
  /** Demands of open batches, in no order. */
  demands: derived((): Demand[] => []),
  /** Position among the queued samples, the samples set aside, or the samples that the node could evict. */
  heapIndex: derived(outside),
  /** Whether the sample has left; a batch that has used the sample may still refer to it. */
  gone: derived(() => false),
});
/** A sample, from its draw until it leaves. */
export interface Sample extends z.output<typeof sample> {}

/** A sample that a batch has used; the sample may have left since. */
export interface UsedSample {
  readonly id: string;
  readonly ref: string | null;
  readonly gone: boolean;
  used: number;
}
const usedSample = z.codec(
  z.strictObject({ id: sampleId, ref: ref.nullable(), gone: z.boolean() }),
  z.custom<UsedSample>(),
  {
    decode: (saved): UsedSample => ({ ...saved, used: 0 }),
    encode: ({ id, ref, gone }) => ({ id, ref, gone }),
  },
);

const slice = z.strictObject({
  id: sliceId,
  rank,
  from: count,
  to: count,
  /** Number of the next try. */
  attempt: count,
  /** Whether a try is under way. */
  sent: z.boolean(),
  /** Failures that are proven to be the slice's own. */
  failures: count,
  /** All failed tries that are not forgotten. */
  failed: count,
  /** Time of the next fetch, in seconds, while it is put off; 0 for a single try, in turn. */
  pausedUntil: seconds.nullable(),
  /** Number of the latest try, in the order of all tries. */
  lastSend: count,
  fetched: derived(() => false),
  demand: derived<Demand>(),
  heapIndex: derived(outside),
});
/** Frames that one rank needs. */
export interface Slice extends z.output<typeof slice> {}

const demand = z.strictObject({
  sample: toSample,
  /** Slices in the order of ids, including fetched ones. */
  slices: only(z.array(slice).min(1), (one) => !one.fetched),
  batch: derived<Batch>(),
  /** Number of slices that were not fetched. */
  open: derived(zero),
  /** Position among the demands of the sample. */
  index: derived(zero),
});
const bySlicePause = (a: Slice, b: Slice): number => a.pausedUntil! - b.pausedUntil! || (a.id < b.id ? -1 : 1);

/** A batch's demand for one sample. */
export interface Demand extends z.output<typeof demand> {}

const batch = z.strictObject({
  id: batchId,
  stepId,
  plannedAt: seconds,
  /** Number of slices that were fetched. */
  fetched: count,
  missing: z.array(sampleId),
  /** Demands of the batch, including completely fetched ones. */
  demands: only(z.array(demand).min(1), (one) => one.open > 0),
  /** Samples whose use by this batch was counted, because the batch's ranks have all slices. */
  used: z.array(usedSample),
  /** Number in the order of plans. */
  order: derived(zero),
  /** Number of demands for which the batch still waits. */
  waiting: derived(zero),
  /** Number of slices that were not fetched. */
  open: derived(zero),
});
export interface Batch extends z.output<typeof batch> {}

export const loaderState = z
  .strictObject({
    /** Nodes that are present. */
    nodes: mapBy('id', node),
    /** The latest lost nodes, in the order of loss. */
    lost: mapBy('id', node),
    steps: mapBy('id', step),
    samples: mapBy('id', sample),
    batches: mapBy('id', batch),
    recentSteps: recentIds(stepId),
    recentBatches: recentIds(batchId),
    seq: count,
    nextStep: count,
    nextTask: count,
    nextSlice: count,
    nextSend: count,
    /** Faults that tries of samples share, on one node or on all; and those that slices share. */
    faults: sharedFaults,
    transfers: sharedFaultsOf('transfers'),
    /** Time at which the timer fires, in seconds; `null` without a timer. */
    timerAt: seconds.nullable(),
    ...prefixes,
    nextBatch: derived(zero),
    nodeOfRank: derived(() => new Map<number, Node>()),
    /** Nodes that take work, the least loaded first. */
    open: derived(() => new IndexedHeap<Node>(byLoad)),
    /** Memory of the largest present node, and of the largest lost node. */
    largestBudget: derived(zero),
    lostBudget: derived(zero),
    /** Samples to be preprocessed, the most urgent first. */
    waiting: derived(() => new IndexedHeap<Sample>(byUrgency)),
    /** Samples that need a larger node than any present node, smallest first. */
    unplaced: derived(() => new IndexedHeap<Sample>(smallestFirst)),
    /** Samples and slices whose next try is put off. */
    pauses: derived(() => new IndexedHeap<Sample>(byPause)),
    slicePauses: derived(() => new IndexedHeap<Slice>(bySlicePause)),
    /** Slices that wait for single tries. */
    parked: derived(() => new Set<Slice>()),
    /** Samples that are being preprocessed, by the id of the try. */
    tasks: derived(() => new Map<string, Sample>()),
    openSteps: derived(() => new LinkedList<Step>()),
    /** Order of the last step that may be preprocessed ahead. */
    lastAhead: derived(outside),
    slices: derived(() => new Map<string, Slice>()),
    /** Whether a change may allow a waiting sample to start; false between events. */
    dirty: derived(() => false),
  })
  .superRefine(({ nodes, lost, steps, samples, batches }, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message: `${message} of the snapshot` });
    [...samples.values()].forEach(({ step, node, avoid, status, task, media }, at) => {
      if (!steps.has(step.id)) refuse(['samples', at, 'step'], 'a step');
      if (node !== null && !nodes.has(node.id)) refuse(['samples', at, 'node'], 'an active node');
      if (avoid !== null && !nodes.has(avoid.id) && !lost.has(avoid.id)) refuse(['samples', at, 'avoid'], 'a node');
      const isPlaced = status === 'preprocessing' || status === 'registered';
      if ((node !== null) !== isPlaced) refuse(['samples', at, 'node'], `a node with status ${status}`);
      if ((task !== null) !== (status === 'preprocessing')) refuse(['samples', at, 'task'], `no task with ${status}`);
      if ((media === null) !== (status === 'text')) refuse(['samples', at, 'media'], `media with status ${status}`);
    });
    [...batches.values()].forEach(({ demands, used }, at) => {
      used.forEach(({ id, gone }, index) => {
        if (!gone && !samples.has(id)) refuse(['batches', at, 'used', index, 'id'], 'a sample');
      });
      demands.forEach(({ sample }, index) => {
        if (!samples.has(sample.id)) refuse(['batches', at, 'demands', index, 'sample'], 'a sample');
      });
    });
  });
export type LoaderState = Live<z.output<typeof loaderState>, ShadowLoaderConfig>;
export type SavedLoader = z.input<typeof loaderState>;

/** Returns the initial state, with the nodes of the configuration. */
export const begin = ({ nodes, idPrefix }: ShadowLoaderConfig): Partial<SavedLoader> => ({
  prefix: idPrefix,
  nodes: nodes.map(({ nodeId: id, hostMemoryBytes, weight = 1, slots = null, ranks = [] }) => {
    return { id, hostMemoryBytes, weight, slots, ranks };
  }),
});

/** Reads a state of version 3, in which every fault of a node was charged to the sample. */
export function migrateFromThree(given: unknown): unknown {
  const saved = given as SavedLoader;
  const calm = { failedAt: null, losses: 0, pausedUntil: null, asideAt: null, lastTry: 0, infrastructureFailures: 0 };
  const samples = saved.samples.map((one) => ({ ...one, ...calm, failed: one.infrastructureFailures }));
  const batches = saved.batches.map((batch) => ({
    ...batch,
    demands: batch.demands.map((demand) => ({
      ...demand,
      slices: demand.slices.map((one) => ({
        ...one,
        failures: 0,
        failed: one.failures,
        pausedUntil: null,
        lastSend: 0,
      })),
    })),
  }));
  const faults = { faults: noFaults(), transfers: noFaults() };
  return { ...saved, samples, batches, ...faults, nextSend: 0, timerAt: null };
}

export function newNode(id: string): Node {
  return {
    id,
    hostMemoryBytes: 0,
    weight: 1,
    slots: null,
    ranks: new Set(),
    active: false,
    forgotten: false,
    usedBytes: 0,
    aheadBytes: 0,
    queued: 0,
    queuedBytes: 0,
    samples: new Set(),
    idle: new IndexedHeap(leastUrgentFirst),
    idleBytes: 0,
    heapIndex: -1,
  };
}

/** The part of a try's id before its number. */
export const taskKind = 'preprocess/';
/** The part of a slice's id before its number. */
export const sliceKind = 'slice/';
/** Returns the id of a try to preprocess. */
export const taskIdOf = (prefix: string, number: number): string => mintedId(prefix, taskKind, number);
export const sliceIdOf = (prefix: string, number: number): string => mintedId(prefix, sliceKind, number);
