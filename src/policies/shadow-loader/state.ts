/** The state that shadow-loader owns: metadata of samples, nodes, steps and batches, never a tensor. */
import type { IndexedHeap } from '../../core/heap.ts';
import type { LinkedList } from '../../core/linked-list.ts';
import type { ShadowLoaderConfig } from './schema.ts';

/** Why a sample stands in line. */
export type Cause = 'drawn' | 'node_lost' | 'retry' | 'memory' | 'copy_missing' | 'displaced' | 'host_restarted';

/** What of a sample has pixels. */
export interface Media {
  readonly kind: 'image' | 'video';
  readonly path: string;
  readonly frames: number;
  readonly resolution: { readonly width: number; readonly height: number };
}

/** A sample from its draw until no batch needs it. */
export interface Sample {
  readonly id: string;
  readonly step: Step;
  /** In the order in which they were drawn. */
  readonly seq: number;
  readonly ref: string | null;
  /** `null` for text. */
  readonly media: Media | null;
  /** Batches that will use it; `null` if that is not known. */
  readonly uses: number | null;
  used: number;
  /** What it is expected to take in host memory, and once it is registered, what it takes. */
  bytes: number;
  /** `unplaced` is out of the line: no node that is here could hold it. */
  status: 'waiting' | 'unplaced' | 'preprocessing' | 'registered' | 'text';
  cause: Cause;
  /** Where it is preprocessed or held. */
  node: Node | null;
  /** The try on that node, while it is being preprocessed. */
  task: number | null;
  /** Whether it counts among what a node holds for later steps, as long as its step is a later one. */
  ahead: boolean;
  infrastructureFailures: number;
  dataFailures: number;
  /** The node of the last fault; another one is tried first. */
  avoid: Node | null;
  /** What open batches still need of it, in no order. */
  readonly demands: Demand[];
  /** Its place in the line, among those out of it, or among what its node could do without. */
  heapIndex: number;
}

/** A sample that a batch has used; it may have left since. */
export interface UsedSample {
  readonly id: string;
  readonly ref: string | null;
  used: number;
}

/** What one batch needs of one sample. */
export interface Demand {
  readonly batch: Batch;
  readonly sample: Sample;
  /** By their numbers; those that were fetched too. */
  readonly slices: Slice[];
  /** Slices that were not fetched. */
  open: number;
  /** Where it stands among those of its sample. */
  place: number;
}

/** Frames that one rank needs. */
export interface Slice {
  readonly number: number;
  readonly id: string;
  readonly demand: Demand;
  readonly rank: number;
  readonly from: number;
  readonly to: number;
  /** Number of the next try. */
  attempt: number;
  /** Whether a try is under way. */
  sent: boolean;
  fetched: boolean;
  failures: number;
}

export interface Batch {
  readonly id: string;
  /** In the order in which they were planned. */
  readonly order: number;
  readonly stepId: string;
  readonly plannedAt: number;
  /** What it needs of its samples; what it has too. */
  readonly demands: Demand[];
  /** Those that it still waits for. */
  waiting: number;
  /** Slices that were fetched. */
  fetched: number;
  /** Slices that were not. */
  open: number;
  /** Whose use was counted for it: its ranks have all of them. */
  readonly used: UsedSample[];
  readonly missing: string[];
}

export interface Step {
  readonly id: string;
  readonly order: number;
  closed: boolean;
  /** Whether it is the first open one. */
  current: boolean;
  /** Samples of it that are here. */
  samples: number;
  /** Those that no open batch needs. */
  readonly unwanted: Set<Sample>;
  /** While it is a later step: what nodes hold for it ahead. */
  readonly aheadBytes: Map<Node, number>;
  previous: Step | null;
  next: Step | null;
}

export interface Node {
  readonly id: string;
  hostMemoryBytes: number;
  weight: number;
  slots: number | null;
  /** Whether it is there; one that was lost is remembered for a while. */
  active: boolean;
  /** Those that run on it. */
  readonly ranks: Set<number>;
  /** What is reserved or held. */
  usedBytes: number;
  aheadBytes: number;
  /** What it has to preprocess. */
  queued: number;
  queuedBytes: number;
  readonly samples: Set<Sample>;
  /** Registered samples that no open batch needs, the least urgent first. */
  readonly idle: IndexedHeap<Sample>;
  idleBytes: number;
  heapIndex: number;
}

export interface LoaderState {
  readonly config: ShadowLoaderConfig;
  /** Those that are there. */
  readonly nodes: Map<string, Node>;
  /** The last that were lost, in the order in which they were. */
  readonly lost: Map<string, Node>;
  readonly nodeOfRank: Map<number, Node>;
  /** Nodes that take work, the least loaded first. */
  readonly open: IndexedHeap<Node>;
  /** Memory of the largest node that is there, and of the largest that was lost. */
  largestBudget: number;
  lostBudget: number;
  readonly samples: Map<string, Sample>;
  /** Samples to be preprocessed, the most urgent first. */
  readonly waiting: IndexedHeap<Sample>;
  /** Samples that only a larger node than those that are there could hold, the smallest first. */
  readonly unplaced: IndexedHeap<Sample>;
  /** Samples that are being preprocessed, by the id of the try. */
  readonly tasks: Map<string, Sample>;
  readonly steps: Map<string, Step>;
  readonly openSteps: LinkedList<Step>;
  /** Order of the last step that may be preprocessed ahead. */
  lastAhead: number;
  readonly batches: Map<string, Batch>;
  readonly slices: Map<string, Slice>;
  readonly recentSteps: string[];
  readonly recentBatches: string[];
  seq: number;
  nextStep: number;
  nextTask: number;
  nextSlice: number;
  nextBatch: number;
  prefix: string;
  readonly oldPrefixes: string[];
  /** Whether something has changed that may let a waiting sample begin; false between events. */
  dirty: boolean;
}

/** By the order in which steps and samples were drawn. */
export const byAge = (a: Sample, b: Sample): number => a.step.order - b.step.order || a.seq - b.seq;
/** By the order in which their batches were planned. */
export const byBatch = (a: Demand, b: Demand): number => a.batch.order - b.batch.order;

/** What a node has to preprocess, relative to how fast it does. */
export const loadOf = (node: Node): number => node.queuedBytes / node.weight;
/** The least loaded first: by bytes to preprocess, samples to preprocess, memory in use, and id. */
export const byLoad = (a: Node, b: Node): number =>
  loadOf(a) - loadOf(b) || a.queued - b.queued || a.usedBytes - b.usedBytes || (a.id < b.id ? -1 : 1);
