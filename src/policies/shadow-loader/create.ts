/** New things of the state, with their orders. */
import { IndexedHeap } from '../../core/heap.ts';
import { LinkedList } from '../../core/linked-list.ts';
import type { ShadowLoaderConfig } from './schema.ts';
import { byAge, byLoad, type LoaderState, type Node, type Sample, type Step } from './state.ts';

/** What a batch waits for comes first. */
const byUrgency = (a: Sample, b: Sample): number =>
  Number(b.demands.length > 0) - Number(a.demands.length > 0) || byAge(a, b);
const smallestFirst = (a: Sample, b: Sample): number => a.bytes - b.bytes || byAge(a, b);
const leastUrgentFirst = (a: Sample, b: Sample): number => byAge(b, a);

export function newStep(id: string, order: number): Step {
  const ends = { previous: null, next: null };
  return {
    ...{ id, order, closed: false, current: false, samples: 0, unwanted: new Set(), aheadBytes: new Map() },
    ...ends,
  };
}

export function newNode(id: string): Node {
  return {
    id,
    hostMemoryBytes: 0,
    weight: 1,
    slots: null,
    active: false,
    ranks: new Set(),
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

export function newState(config: ShadowLoaderConfig): LoaderState {
  return {
    config,
    nodes: new Map(),
    lost: new Map(),
    nodeOfRank: new Map(),
    open: new IndexedHeap(byLoad),
    largestBudget: 0,
    lostBudget: 0,
    samples: new Map(),
    waiting: new IndexedHeap(byUrgency),
    unplaced: new IndexedHeap(smallestFirst),
    tasks: new Map(),
    steps: new Map(),
    openSteps: new LinkedList(),
    lastAhead: -1,
    batches: new Map(),
    slices: new Map(),
    recentSteps: [],
    recentBatches: [],
    seq: 0,
    nextStep: 0,
    nextTask: 0,
    nextSlice: 0,
    nextBatch: 0,
    prefix: config.idPrefix,
    oldPrefixes: [],
    dirty: false,
  };
}
