/**
 * The workers of one kind and their queues: who is next, who takes a single try while dispatches fail, and what the host is told of long
 * queues.
 */
import type { IndexedHeap } from '../../core/collections/heap.ts';
import { mustWait, type Where } from '../../core/rollout/shared-faults.ts';
import { queueMarks } from './schema.ts';
import {
  type Ctx,
  type Dispatch,
  join,
  kinds,
  leave,
  type Pool,
  type RewardState,
  type Sample,
  type Worker,
} from './state.ts';

/** Queues a response again at its old place: before all responses that were requested later. */
export function queueAgain(state: RewardState, sample: Sample, cause: Sample['cause'], at: number): void {
  sample.dispatch = null;
  sample.cause = cause;
  sample.since = at;
  sample.pausedUntil = null;
  putInLine(state.pools[sample.kind], sample);
  if (sample.asideAt !== null) noteAside(state, sample);
}

/** Takes all responses out of some queues of a pool, so that they can be queued anew; none of them is put off any longer. */
export function drain(pool: Pool, at: number, ...queues: readonly IndexedHeap<Sample>[]): Sample[] {
  const all: Sample[] = [];
  for (const queue of queues) {
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      queue.remove(next);
      next.pausedUntil = null;
      next.since = Math.min(next.since, at);
      all.push(next);
    }
  }
  pool.queued -= all.length;
  return all;
}

/** Sets whether a worker takes dispatches. */
export function setActive(worker: Worker, active: boolean): void {
  if (worker.active !== active) worker.pool.activeWorkers += active ? 1 : -1;
  worker.active = active;
  reheap(worker);
}

/** Returns the fields by which decisions name a response. */
export function named({ requestId, promptId, kind }: Sample) {
  return promptId === null ? { requestId, kind } : { requestId, promptId, kind };
}

/** Reports when a queue has become long, or short again; after a restart of the host, reports again that it is long. */
export function reportPressure(state: RewardState, pool: Pool, ctx: Ctx): void {
  const { kind, queued: waiting } = pool;
  const { saturated: saturatedQueued, resumed: resumedQueued } = state.marks;
  const isStuck = waiting > 0 && pool.activeWorkers === 0;
  if (!pool.saturated && (isStuck || waiting >= saturatedQueued)) {
    pool.saturated = true;
    const reason = isStuck
      ? ({ code: 'no_worker', queued: waiting } as const)
      : ({ code: 'queue_long', queued: waiting, saturatedQueued } as const);
    ctx.emit({ type: 'rewards.saturated', at: ctx.at, kind, reason });
  } else if (pool.saturated && !isStuck && waiting <= resumedQueued) {
    pool.saturated = false;
    const reason = { code: 'queue_short', queued: waiting, resumedQueued } as const;
    ctx.emit({ type: 'rewards.resumed', at: ctx.at, kind, reason });
  } else if (pool.saturated && state.restarted) {
    const reason = isStuck
      ? ({ code: 'no_worker', queued: waiting } as const)
      : ({ code: 'host_restarted', queued: waiting, resumedQueued } as const);
    ctx.emit({ type: 'rewards.saturated', at: ctx.at, kind, reason });
  }
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

/** The places of dispatches: all workers of a kind, and one worker. */
export const whole: Where = { scope: 'reward', id: null };
export const domainOf = ({ id }: Worker): Where => ({ scope: 'reward', id });

/** Whether all workers of a kind fail, so that only single tries are made. */
export const isSuspended = ({ faults }: Pool): boolean => faults.isSuspended(whole);

/** Returns the queue of a waiting response that is not fresh. */
function lineOf(pool: Pool, sample: Sample): IndexedHeap<Sample> {
  if (sample.pausedUntil !== null) return pool.pauses;
  if (isSuspended(pool)) return pool.parked;
  return isSuspect(sample) ? pool.doubtful : pool.again;
}

/** Puts a response that is in no queue into its own. */
export function putInLine(pool: Pool, sample: Sample): void {
  pool.queued += 1;
  if (sample.cause === 'requested') pool.fresh.push(sample);
  else lineOf(pool, sample).update(sample);
}

/** Takes a waiting response out of its queue. */
export function takeFromLine(pool: Pool, sample: Sample): void {
  pool.queued -= 1;
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
export const isSick = (worker: Worker): boolean => worker.pool.faults.isSuspended(domainOf(worker));

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

/** With more suspects than this, the fault is in the workers and not in the responses. */
const mostSuspects = 8;

/** Returns the pools in which an event may have to be followed: something waits, tries fail, or the host was told of a long queue. */
export function busyPools({ pools }: RewardState): Pool[] {
  const busy: Pool[] = [];
  for (const kind of kinds) {
    const pool = pools[kind];
    if (pool.queued > 0 || pool.saturated || !pool.faults.isQuiet) busy.push(pool);
  }
  return busy;
}

/** Whether no dispatch of a kind has failed lately, and no response is suspected. */
export const isUntroubled = ({ faults, suspects }: Pool): boolean => faults.isQuiet && suspects.size === 0;

/** Returns how many failures of a response are not judged yet. */
export const openFailures = ({ faults }: Pool, { requestId }: Sample): number => faults.countOpen(requestId);

/** Whether a suspected response is being computed. */
function suspectRuns({ suspects }: Pool): boolean {
  if (suspects.size > mostSuspects) return false;
  for (const { dispatch } of suspects) if (dispatch !== null) return true;
  return false;
}

/** Whether no other suspected response was being computed, so that the loss of the worker is this response's own fault. */
export function runsAlone({ suspects }: Pool, sample: Sample): boolean {
  if (!isSuspect(sample) || suspects.size > mostSuspects) return false;
  for (const one of suspects) if (one !== sample && one.dispatch !== null) return false;
  return true;
}

const isLessThan = (a: Sample, b: Sample | undefined): boolean => b === undefined || a.seq < b.seq;

/** Returns the next response to dispatch and its worker, if both exist. */
export function nextTry(state: RewardState, pool: Pool, at: number): { sample: Sample; worker: Worker } | undefined {
  const all = pool.faults.find(whole);
  const isSuspended = all?.suspension != null;
  const hasSuspect = suspectRuns(pool);
  for (const sample of isSuspended ? [pool.fresh.peek(), pool.parked.peek()] : inLine(pool, hasSuspect)) {
    if (sample === undefined || (isSuspect(sample) && hasSuspect)) continue;
    if (isSuspended && mustWait(all, sample.requestId, at)) continue;
    const worker = workerFor(state, pool, sample, isSuspended, at);
    if (worker !== undefined) return { sample, worker };
  }
  return undefined;
}

/** Returns the candidates for the next dispatch: one response to dispatch again, in the order of requests, and one new response. */
function inLine({ again, doubtful, fresh }: Pool, hasSuspect: boolean): (Sample | undefined)[] {
  const suspect = hasSuspect ? undefined : doubtful.peek();
  const other = again.peek();
  const first = suspect !== undefined && isLessThan(suspect, other) ? suspect : other;
  const all = [first, first === suspect ? other : suspect, fresh.peek()];
  // A response that was not set aside tells more than one that was.
  return all.sort((a, b) => Number(a?.asideAt != null) - Number(b?.asideAt != null));
}

/**
 * Returns a worker: a suspended worker that is due for a single try, or the least loaded one; never the worker of the last
 * failure if others are free.
 */
function workerFor(
  state: RewardState,
  pool: Pool,
  sample: Sample,
  isSuspended: boolean,
  at: number,
): Worker | undefined {
  const open = leastLoaded(pool, sample);
  if (open !== undefined && isSuspended) return open;
  let due: Worker | undefined;
  for (const id of pool.faults.dueParts('reward', at)) {
    const worker = state.workers.get(id);
    if (worker === undefined || !hasRoom(worker)) continue;
    due ??= worker;
    if (worker.id !== sample.failedOn) return worker;
  }
  return open ?? due;
}

function leastLoaded({ open }: Pool, { failedOn }: Sample): Worker | undefined {
  const first = open.peek();
  if (first === undefined || first.id !== failedOn || open.size === 1) return first;
  open.remove(first);
  const second = open.peek();
  open.update(first);
  return second;
}

/** Notes that a response is dispatched. Returns the reason, if this is a single try, but for how long the response has waited. */
export function beginSingle(pool: Pool, sample: Sample, worker: Worker, dispatchId: string, at: number) {
  const single = pool.faults.begin([whole, domainOf(worker)], dispatchId, sample.requestId, at);
  if (single !== undefined) return single;
  // A response that was set aside is tried again; otherwise it could wait for comparison on a worker that no other response
  // needs.
  if (sample.asideAt === null) return undefined;
  const where = { scope: 'reward', id: sample.failedOn } as const;
  const failures = pool.faults.find(where)?.failures ?? 0;
  return { code: 'probe', ...pool.faults.named(where), failures, pauseSeconds: at - sample.failedAt! } as const;
}
