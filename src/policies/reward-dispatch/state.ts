/** The state of reward-dispatch. Loads, queues, heaps and groups are derived: they are not saved but built again. */
import { z } from 'zod';
import { Heap, IndexedHeap } from '../../core/collections/heap.ts';
import { LinkedList } from '../../core/collections/linked-list.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import { noFaults, sharedFaultsOf } from '../../core/rollout/shared-faults.ts';
import type { RewardDispatchConfig } from '../../generated/settings/reward-dispatch.ts';
import {
  dispatchId,
  type RewardKind,
  rewardBudgetSeconds,
  rewardKind,
  workerId,
} from '../../schemas/reward-workers.ts';
import { count, positiveCount, promptId, requestId, roundId, seconds } from '../../schemas/units.ts';
import { type Group, join, leave } from './group.ts';
import { queueMarks } from './schema.ts';

const outside = () => -1;
const zero = () => 0;

const sample = z.strictObject({
  requestId,
  promptId: promptId.nullable(),
  kind: rewardKind,
  budgetSeconds: rewardBudgetSeconds,
  /** Number in the order of requests. */
  seq: count,
  requestedAt: seconds,
  /** Time since when the response has been queued, in seconds. */
  since: seconds,
  /** The reason why the response is queued. */
  cause: z.enum(['requested', 'retry_infrastructure', 'retry_timeout', 'host_restarted']),
  /** Failures that are proven to be the response's own. */
  failures: count,
  /** All failed tries that are not forgotten, except tries that ran out of time. */
  failed: count,
  timeouts: count,
  /** Number of workers in a row that were lost while computing this response. */
  losses: count,
  /** The worker of the latest failed try, and the end of this try, in seconds. */
  failedOn: workerId.nullable(),
  failedAt: seconds.nullable(),
  /** Time of the next try, in seconds; `null` unless that try is put off. */
  pausedUntil: seconds.nullable(),
  /** Time since which unjudged failures exceed the budget, in seconds. */
  asideAt: seconds.nullable(),
  /** Number of the latest dispatch. */
  lastDispatch: count,
  /** Number of dispatches so far. */
  attempts: count,
  /** Whether a completed round trains on the response; then nothing cancels its reward. */
  final: z.boolean(),
  /** The round with which the response leaves, alone or with its prompt; `null` once the response is final. */
  roundId: roundId.nullable(),
  /** The dispatch that computes the reward; `null` while the response waits. */
  dispatch: derived<Dispatch | null>(),
  indexInPrompt: derived(outside),
  indexInRound: derived(outside),
  // Position in one of the queues of the pool.
  heapIndex: derived(outside),
  previous: derived<Sample | null>(),
  next: derived<Sample | null>(),
});
/** A response whose reward is requested: the response waits, or a worker computes its reward. */
export interface Sample extends z.output<typeof sample> {}

const dispatch = z.strictObject({
  id: dispatchId,
  number: count,
  requestId,
  workerId,
  budgetSeconds: rewardBudgetSeconds,
  dispatchedAt: seconds,
  started: z.boolean(),
  /** Time at which the dispatch counts as unanswered, or its cancellation as unconfirmed, in seconds. */
  deadline: seconds,
  cancelled: z.boolean(),
  /** The response; `null` once the dispatch is cancelled. */
  sample: derived<Sample | null>(),
  worker: derived<Worker>(),
  heapIndex: derived(outside),
  // Neighbours in the worker's list of dispatches.
  previous: derived<Dispatch | null>(),
  next: derived<Dispatch | null>(),
});
/** A try on a worker. The try holds a slot of the worker until it ends, or until its cancellation is confirmed or expires. */
export interface Dispatch extends z.output<typeof dispatch> {}

const worker = z.strictObject({
  id: workerId,
  kind: rewardKind,
  slots: positiveCount,
  active: z.boolean(),
  pool: derived<Pool>(),
  /** Dispatches of the worker, in order. */
  running: derived(() => new LinkedList<Dispatch>()),
  /** Number of dispatches that are not cancelled. */
  live: derived(zero),
  /** Sum of the budgets of all dispatches, in whole milliseconds: a sum of seconds would depend on the order of adding. */
  assignedMs: derived(zero),
  heapIndex: derived(outside),
});
export interface Worker extends z.output<typeof worker> {}

const byLoad = (a: Worker, b: Worker): number =>
  a.running.size - b.running.size || a.assignedMs - b.assignedMs || (a.id < b.id ? -1 : 1);
const byDeadline = (a: Dispatch, b: Dispatch): number => a.deadline - b.deadline || a.number - b.number;
const bySeq = (a: Sample, b: Sample): number => a.seq - b.seq;
const byPause = (a: Sample, b: Sample): number => a.pausedUntil! - b.pausedUntil! || a.seq - b.seq;
const isAside = ({ asideAt }: Sample): number => (asideAt === null ? 0 : 1);
/** Order of requests, but responses that are set aside come last. */
const byLine = (a: Sample, b: Sample): number => isAside(a) - isAside(b) || a.seq - b.seq;
/** The response that was tried longest ago comes first; responses that are set aside come last. */
const byTurn = (a: Sample, b: Sample): number =>
  isAside(a) - isAside(b) || a.lastDispatch - b.lastDispatch || a.seq - b.seq;
/** A response that was set aside at this time. The entry is stale if the response was tried or judged since. */
export interface Aside {
  readonly at: number;
  readonly sample: Sample;
}
const byAside = (a: Aside, b: Aside): number => a.at - b.at || a.sample.seq - b.sample.seq;

const poolOf = (kind: RewardKind) =>
  z.strictObject({
    /** Whether the last notice to the host said that the queue is long. */
    saturated: z.boolean(),
    /** Faults that dispatches of this kind share, on one worker or on all. */
    faults: sharedFaultsOf(kind),
    kind: derived(() => kind),
    /** Workers with a free slot that are not suspended, the least loaded first. */
    open: derived(() => new IndexedHeap<Worker>(byLoad)),
    /** Responses that were never dispatched, in the order of requests. */
    fresh: derived(() => new LinkedList<Sample>()),
    /** Responses to dispatch again; each was requested before all fresh ones. */
    again: derived(() => new IndexedHeap<Sample>(byLine)),
    /** Responses whose next try is put off. */
    pauses: derived(() => new IndexedHeap<Sample>(byPause)),
    /** While the kind is suspended: all responses to dispatch again, in turn. */
    parked: derived(() => new IndexedHeap<Sample>(byTurn)),
    /** Responses under which too many workers were lost, and the suspects that wait until another suspect has ended. */
    suspects: derived(() => new Set<Sample>()),
    doubtful: derived(() => new IndexedHeap<Sample>(bySeq)),
    /** With `giveUpSeconds`: responses that were set aside. */
    asides: derived(() => new Heap<Aside>(byAside)),
    /** Number of dispatches that are not cancelled. */
    live: derived(zero),
    activeWorkers: derived(zero),
  });
/** The workers of one kind, and the responses that wait for such workers. */
export interface Pool extends z.output<ReturnType<typeof poolOf>> {}

/** Reward kinds, in the order of service. */
export const kinds = ['rule', 'sandbox', 'judge'] as const satisfies readonly RewardKind[];

export const rewardState = z
  .strictObject({
    samples: mapBy('requestId', sample),
    dispatches: mapBy('id', dispatch),
    workers: mapBy('id', worker),
    pools: z.strictObject({ rule: poolOf('rule'), sandbox: poolOf('sandbox'), judge: poolOf('judge') }),
    /** Time at which the timer fires, in seconds; `null` without a timer. */
    timerAt: seconds.nullable(),
    seq: count,
    /** Number of the next dispatch; it never decreases. */
    nextDispatch: count,
    ...prefixes,
    /** Whether the host has just restarted and may have forgotten earlier notices. */
    restarted: derived(() => false),
    marks: derived<ReturnType<typeof queueMarks>>(),
    prompts: derived(() => new Map<string, Group<Sample>>()),
    rounds: derived(() => new Map<string, Group<Sample>>()),
    /** All dispatches, earliest deadline first. */
    deadlines: derived(() => new IndexedHeap<Dispatch>(byDeadline)),
  })
  .superRefine(({ samples, dispatches, workers }, context) => {
    const waiting = new Set(samples.keys());
    [...dispatches.values()].forEach((one, index) => {
      const refuse = (key: 'workerId' | 'requestId', message: string) =>
        context.addIssue({ code: 'custom', path: ['dispatches', index, key], message });
      if (!workers.has(one.workerId)) refuse('workerId', 'a worker of the snapshot');
      if (!one.cancelled && !waiting.delete(one.requestId)) refuse('requestId', 'a sample of the snapshot, once');
    });
  });
export type RewardState = Live<z.output<typeof rewardState>, RewardDispatchConfig>;
export type SavedRewards = z.input<typeof rewardState>;

export const begin = ({ idPrefix }: RewardDispatchConfig): Partial<SavedRewards> => ({ prefix: idPrefix });

/** Reads a state of version 3, in which every fault of a worker was charged to the response. */
export function migrateFromThree(given: unknown): unknown {
  const saved = given as SavedRewards;
  const pools = Object.entries(saved.pools).map(([kind, pool]) => [kind, { ...pool, faults: noFaults() }]);
  const unknown = { losses: 0, failedOn: null, pausedUntil: null, asideAt: null, lastDispatch: 0 };
  const samples = saved.samples.map((one) => {
    return { ...one, ...unknown, failures: 0, failed: one.failures, failedAt: one.failures > 0 ? one.since : null };
  });
  return { ...saved, samples, pools: Object.fromEntries(pools) };
}

export function link(state: RewardState): void {
  state.marks = queueMarks(state.config);
  for (const one of state.workers.values()) one.pool = state.pools[one.kind];
  for (const one of state.dispatches.values()) {
    one.worker = state.workers.get(one.workerId)!;
    occupy(state, one);
    if (one.cancelled) continue;
    one.sample = state.samples.get(one.requestId)!;
    one.sample.dispatch = one;
  }
  for (const one of state.workers.values()) {
    if (one.active) one.pool.activeWorkers += 1;
    reheap(one);
  }
  for (const one of state.samples.values()) {
    if (one.roundId !== null) attach(state, one, one.roundId);
    const pool = state.pools[one.kind];
    if (isSuspect(one)) pool.suspects.add(one);
    if (one.dispatch !== null) continue;
    putInLine(pool, one);
    if (one.asideAt !== null) noteAside(state, one);
  }
}

/** A response under which so many workers were lost is suspected. */
const lossesToSuspect = 3;
export const isSuspect = ({ losses }: Sample): boolean => losses >= lossesToSuspect;

/** Whether all workers of a kind fail, so that only single tries are made. */
export const isSuspended = ({ faults }: Pool): boolean =>
  !faults.isQuiet && faults.find({ scope: 'reward', id: null })?.suspension != null;

/** Returns the queue of a waiting response that is not fresh. */
function lineOf(pool: Pool, sample: Sample): IndexedHeap<Sample> {
  if (sample.pausedUntil !== null) return pool.pauses;
  if (isSuspended(pool)) return pool.parked;
  return isSuspect(sample) ? pool.doubtful : pool.again;
}

/** Puts a waiting response into its queue. */
export function putInLine(pool: Pool, sample: Sample): void {
  if (sample.cause === 'requested') pool.fresh.push(sample);
  else lineOf(pool, sample).update(sample);
}

/** Takes a waiting response out of its queue. */
export function takeFromLine(pool: Pool, sample: Sample): void {
  if (sample.cause === 'requested') pool.fresh.remove(sample);
  else lineOf(pool, sample).remove(sample);
}

/** Notes when a response was set aside, if such responses are given up at some time. */
export function noteAside({ config, pools }: RewardState, sample: Sample): void {
  if (config.retry.giveUpSeconds !== undefined) pools[sample.kind].asides.push({ at: sample.asideAt!, sample });
}

/** Returns a budget in milliseconds, in which the loads of workers are compared. */
export function milliseconds(budgetSeconds: number): number {
  return Math.round(budgetSeconds * 1000);
}

/** Gives a dispatch a slot on its worker; its deadline counts from now on. */
export function occupy(state: RewardState, dispatch: Dispatch): void {
  const { worker } = dispatch;
  state.deadlines.update(dispatch);
  worker.running.push(dispatch);
  if (!dispatch.cancelled) countLive(worker, 1);
  worker.assignedMs += milliseconds(dispatch.budgetSeconds);
}

/** Counts dispatches that are not cancelled. */
export function countLive(worker: Worker, more: 1 | -1): void {
  worker.live += more;
  worker.pool.live += more;
}

/** Whether all dispatches on a worker fail, so that the worker gets only single tries. */
export const isSick = ({ pool: { faults }, id }: Worker): boolean =>
  !faults.isQuiet && faults.find({ scope: 'reward', id })?.suspension != null;

/** Updates the position of a worker in the heap of workers with a free slot. */
export function reheap(worker: Worker): void {
  const { open } = worker.pool;
  if (hasRoom(worker) && !isSick(worker)) open.update(worker);
  else open.remove(worker);
}

/** Whether a worker has a free slot. */
export const hasRoom = ({ active, running, slots }: Worker): boolean => active && running.size < slots;

/** Attaches a response to its round and its prompt, so that it leaves with them. */
export function attach(state: RewardState, sample: Sample, roundId: string): void {
  const { promptId } = sample;
  sample.roundId = roundId;
  join(state.rounds, roundId, 'indexInRound', sample);
  if (promptId !== null) join(state.prompts, promptId, 'indexInPrompt', sample);
}

/** Detaches a response from its round and its prompt, so that it no longer leaves with them. */
export function detach(state: RewardState, sample: Sample): void {
  const { promptId, roundId } = sample;
  if (roundId === null) return;
  leave(state.rounds, roundId, sample);
  if (promptId !== null) leave(state.prompts, promptId, sample);
  sample.roundId = null;
}

/** Returns the number of responses that wait in a pool. */
export function queued(pool: Pool): number {
  const { fresh, again, pauses, parked, doubtful } = pool;
  return fresh.size + again.size + pauses.size + parked.size + doubtful.size;
}
