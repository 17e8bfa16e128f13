/** The state of reward-dispatch. Loads, queues, heaps and groups are derived: they are not saved but built again. */

import { z } from 'zod';
import { Heap, IndexedHeap } from '../../core/collections/heap.ts';
import { LinkedList } from '../../core/collections/linked-list.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { makerOf } from '../../core/machine/beginning.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import { noFaults, sharedFaultsOf } from '../../core/rollout/shared-faults.ts';
import type { RewardDispatchConfig, RewardDispatchDecision } from '../../generated/settings/reward-dispatch.ts';
import {
  dispatchId,
  type RewardKind,
  rewardBudgetSeconds,
  rewardKind,
  workerId,
} from '../../schemas/reward-workers.ts';
import { count, positiveCount, promptId, requestId, roundId, seconds } from '../../schemas/units.ts';
import type { queueMarks } from './schema.ts';

/** Groups of responses that leave together, such as the responses of a prompt or of a round. Adding and removing take O(1). */

type IndexField = 'indexInPrompt' | 'indexInRound';
/** A member stores its own position in each group. */
type Member = { readonly seq: number } & Record<IndexField, number>;

export class Group<T extends Member> {
  readonly #field: IndexField;
  readonly #members: T[] = [];

  constructor(field: IndexField) {
    this.#field = field;
  }

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    (member as Member)[this.#field] = this.#members.push(member) - 1;
  }

  /** Removes a member; the last member takes its position. */
  remove(member: T): void {
    const last = this.#members.pop()!;
    if (last === member) return;
    const index = member[this.#field];
    this.#members[index] = last;
    (last as Member)[this.#field] = index;
  }

  /** Returns the members in the order of their requests. */
  members(): T[] {
    return this.#members.slice().sort((a, b) => a.seq - b.seq);
  }
}

/** Puts a member into the group with this id. */
export function join<T extends Member>(groups: Map<string, Group<T>>, id: string, field: IndexField, member: T): void {
  let group = groups.get(id);
  if (group === undefined) groups.set(id, (group = new Group<T>(field)));
  group.add(member);
}

/** Takes a member out of its group; an empty group is removed. */
export function leave<T extends Member>(groups: Map<string, Group<T>>, id: string, member: T): void {
  const group = groups.get(id)!;
  group.remove(member);
  if (group.size === 0) groups.delete(id);
}

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
export const makeWorker = makerOf(worker);

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
    /** Responses in the queues above. */
    queued: derived(zero),
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
/** The context through which handlers emit decisions. */
export type Ctx = Context<RewardDispatchDecision>;

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
