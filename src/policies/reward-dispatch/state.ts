/** The state that reward-dispatch owns. */
import { IndexedHeap } from '../../core/heap.ts';
import { LinkedList } from '../../core/linked-list.ts';
import type { RewardKind } from '../../schemas/reward-workers.ts';
import type { Group } from './group.ts';
import { queueMarks, type RewardDispatchConfig } from './schema.ts';

/** Why a response stands in line. */
export type Cause = 'requested' | 'retry_infrastructure' | 'retry_timeout' | 'host_restarted';

/** A response whose reward is wanted: it waits, or is computed. */
export interface Sample {
  readonly requestId: string;
  readonly promptId: string | null;
  readonly kind: RewardKind;
  readonly budgetSeconds: number;
  /** In the order in which they were asked for. */
  readonly seq: number;
  readonly requestedAt: number;
  /** Since when it has been in line. */
  since: number;
  cause: Cause;
  failures: number;
  timeouts: number;
  /** Dispatches so far. */
  attempts: number;
  /** What computes it; it waits while there is none. */
  dispatch: Dispatch | null;
  /** Whether a completed round trains on it: nothing takes its reward away any more. */
  final: boolean;
  /** What it leaves with, where its round is known; empty once it is final. */
  prompt: Group<Sample> | null;
  round: Group<Sample> | null;
  placeInPrompt: number;
  placeInRound: number;
  // Its place in one of the two lines of its pool.
  heapIndex: number;
  previous: Sample | null;
  next: Sample | null;
}

/** A try on a worker. It holds a slot there until it ends, or its cancellation does. */
export interface Dispatch {
  readonly number: number;
  readonly id: string;
  readonly requestId: string;
  /** `null` once it is cancelled. */
  sample: Sample | null;
  readonly worker: Worker;
  readonly budgetSeconds: number;
  readonly dispatchedAt: number;
  started: boolean;
  /** When it counts as unanswered, or its cancellation as unconfirmed. */
  deadline: number;
  heapIndex: number;
  // Its place among those of its worker.
  previous: Dispatch | null;
  next: Dispatch | null;
}

export interface Worker {
  readonly id: string;
  readonly pool: Pool;
  slots: number;
  active: boolean;
  /** In the order of dispatch. */
  readonly running: LinkedList<Dispatch>;
  /** Budgets of what runs on it, in whole milliseconds: sums of seconds would depend on their order. */
  assignedMs: number;
  heapIndex: number;
}

/** The workers of one kind, and what waits for them. */
export interface Pool {
  readonly kind: RewardKind;
  /** Workers with a free slot, the least loaded first. */
  readonly open: IndexedHeap<Worker>;
  /** Never dispatched, in the order in which they were asked for. */
  readonly fresh: LinkedList<Sample>;
  /** To be dispatched again; each was asked for before any of the fresh ones. */
  readonly again: IndexedHeap<Sample>;
  activeWorkers: number;
  saturated: boolean;
}

export interface RewardState {
  readonly config: RewardDispatchConfig;
  readonly marks: { readonly saturated: number; readonly resumed: number };
  readonly pools: Readonly<Record<RewardKind, Pool>>;
  readonly workers: Map<string, Worker>;
  readonly samples: Map<string, Sample>;
  readonly prompts: Map<string, Group<Sample>>;
  readonly rounds: Map<string, Group<Sample>>;
  readonly dispatches: Map<string, Dispatch>;
  /** All dispatches, the earliest deadline first. */
  readonly deadlines: IndexedHeap<Dispatch>;
  /** When the timer fires, if one is set. */
  timerAt: number | null;
  seq: number;
  /** Number of the next dispatch; never goes back. */
  nextDispatch: number;
  prefix: string;
  readonly oldPrefixes: string[];
}

/** The kinds, in the order in which they are served. */
export const kinds = ['rule', 'sandbox', 'judge'] as const satisfies readonly RewardKind[];

const byLoad = (a: Worker, b: Worker): number =>
  a.running.size - b.running.size || a.assignedMs - b.assignedMs || (a.id < b.id ? -1 : 1);
const byDeadline = (a: Dispatch, b: Dispatch): number => a.deadline - b.deadline || a.number - b.number;
/** By the order in which they were asked for. */
export const bySeq = (a: Sample, b: Sample): number => a.seq - b.seq;

function newPool(kind: RewardKind): Pool {
  return {
    kind,
    open: new IndexedHeap(byLoad),
    fresh: new LinkedList(),
    again: new IndexedHeap(bySeq),
    activeWorkers: 0,
    saturated: false,
  };
}

export function newState(config: RewardDispatchConfig): RewardState {
  return {
    config,
    marks: queueMarks(config),
    pools: { rule: newPool('rule'), sandbox: newPool('sandbox'), judge: newPool('judge') },
    workers: new Map(),
    samples: new Map(),
    prompts: new Map(),
    rounds: new Map(),
    dispatches: new Map(),
    deadlines: new IndexedHeap(byDeadline),
    timerAt: null,
    seq: 0,
    nextDispatch: 0,
    prefix: config.idPrefix,
    oldPrefixes: [],
  };
}

/** How many wait in a pool. */
export function queued(pool: Pool): number {
  return pool.fresh.size + pool.again.size;
}
