/** What blocks what in reward-dispatch. */

import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { deadlines } from './faults.ts';
import { isSick, isSuspect, isSuspended, openFailures } from './pool.ts';
import { type Dispatch, kinds, type Pool, type RewardState, type Sample, type Worker } from './state.ts';

type Next = HeldThing | AwaitedEvent;

const dispatch = ({ id }: Dispatch): HeldThing => ({ what: 'dispatches', id });

const pool = (id: string): HeldThing => ({ what: 'pools', id });
const timer = (dueAt: number): AwaitedEvent => ({ event: { type: 'timer.fired', timerId: deadlines.timerId }, dueAt });

/** What a queued response waits for: a worker of its kind, a slot on one, or the next single try. */
function* room({ pools }: RewardState, { kind }: Sample): Iterable<HeldThing | AwaitedEvent> {
  if (pools[kind].activeWorkers > 0) yield pool(kind);
  else yield { event: { type: 'reward-worker.added', kind } };
}

function poolStanding(state: RewardState, id: string): Standing | undefined {
  const kind = kinds.find((one) => one === id);
  if (kind === undefined || state.pools[kind].activeWorkers === 0) return undefined;
  const its = state.pools[kind];
  const all = [...state.dispatches.values()].filter(({ worker }) => worker.active && worker.kind === kind);
  const domain = its.faults.find({ scope: 'reward', id: null });
  if (domain?.suspension != null) {
    const { failing, failures } = domain;
    const stands = `has single tries only: ${failures} dispatches of ${failing.size} responses failed one after the other`;
    return { stands, since: domain.suspension.at, for: [...all.map(dispatch), ...single(its)] };
  }
  const isTroubled = [...its.faults.domains].some(({ suspension }) => suspension !== null);
  const stands = isTroubled ? 'has workers on which dispatches fail, that get single tries only' : undefined;
  const isFull = its.open.size === 0;
  return {
    stands: stands ?? `workers have ${isFull ? 'no' : 'a'} free slot`,
    for: [...all.map(dispatch), ...(isTroubled ? single(its) : [])],
  };
}

/** The timer of the next single try, if none is being made. */
function* single(its: Pool): Iterable<AwaitedEvent> {
  const next = its.faults.nextTryAt();
  if (next !== undefined) yield timer(next);
}

/** What ends a dispatch: the answer of the worker, or the timer that gives the worker up. */
function end({ id: dispatchId, workerId: by, deadline }: Dispatch, since?: number): readonly AwaitedEvent[] {
  return [{ event: { type: 'reward.finished', dispatchId }, since, by }, timer(deadline)];
}

/** Why a response is not being dispatched. */
function queuedStanding(state: RewardState, one: Sample): Standing {
  const { kind, since, failed, failedOn, pausedUntil, asideAt } = one;
  const of = state.pools[kind];
  if (asideAt !== null) {
    const { giveUpSeconds } = state.config.retry;
    const open = openFailures(of, one);
    const stands = `has failed ${failed} times, last on reward worker ${failedOn}; ${open} failures wait to be compared with a success of another`;
    return { stands, since: asideAt, for: asideWaits(state, one, giveUpSeconds) };
  }
  if (pausedUntil !== null) {
    const stands = `has failed ${failed} times, last on reward worker ${failedOn}, and is put off`;
    return { stands, since: one.failedAt!, for: [timer(pausedUntil)] };
  }
  const isWaiting = of.doubtful.size > 0 && isSuspect(one) && !isSuspended(of);
  const stands = isWaiting ? `waits for another under which workers were lost` : `waits for a reward worker (${kind})`;
  return { stands, since, for: isWaiting ? suspectsOf(of) : room(state, one) };
}

function* asideWaits(state: RewardState, one: Sample, giveUpSeconds: number | undefined): Iterable<Next> {
  const { pausedUntil, asideAt, requestId } = one;
  if (pausedUntil !== null) yield timer(pausedUntil);
  else yield* room(state, one);
  if (giveUpSeconds !== undefined) yield timer(asideAt! + giveUpSeconds);
  // A response that counts is not withdrawn.
  if (!one.final) yield { event: { type: 'reward.withdrawn', requestId } };
}

/** The suspected responses that are being computed; otherwise a worker for a suspected one. */
function* suspectsOf({ kind, suspects }: Pool): Iterable<Next> {
  for (const one of suspects) if (one.dispatch !== null) yield dispatch(one.dispatch);
  yield pool(kind);
}

function sampleStanding(state: RewardState, one: Sample): Standing {
  const { dispatch: its } = one;
  if (its === null) return queuedStanding(state, one);
  const { workerId, dispatchedAt } = its;
  return { stands: `is with reward worker ${workerId}`, since: dispatchedAt, for: end(its, dispatchedAt) };
}

function dispatchStanding(one: Dispatch): Standing {
  const { workerId, dispatchedAt, cancelled } = one;
  if (cancelled) return { stands: `is being cancelled on reward worker ${workerId}`, for: end(one) };
  return { stands: `runs on reward worker ${workerId}`, since: dispatchedAt, for: end(one, dispatchedAt) };
}

function* runningOn({ running }: Worker): Iterable<HeldThing> {
  for (let one: Dispatch | null = running.peek() ?? null; one !== null; one = one.next) yield dispatch(one);
}

function workerStanding(one: Worker): Standing {
  const { active, running, slots, kind } = one;
  const taken = `has ${running.size} of ${slots} slots taken`;
  const inUse = isSick(one) ? `${taken}, and single tries only, as dispatches fail there` : taken;
  const stands = active ? inUse : 'takes no new dispatches';
  return { stands: `${stands} (${kind})`, for: runningOn(one) };
}

/** What blocks what: responses wait for workers, and workers for the end of their computations. */
export const waits: Waits<RewardState> = {
  samples: {
    ids: ({ samples }) => samples.keys(),
    of: (state, id) => {
      const found = state.samples.get(id);
      return found && sampleStanding(state, found);
    },
  },
  dispatches: {
    ids: ({ dispatches }) => dispatches.keys(),
    of: ({ dispatches }, id) => {
      const found = dispatches.get(id);
      return found && dispatchStanding(found);
    },
  },
  pools: { ids: () => [], of: poolStanding },
  workers: {
    ids: ({ workers }) => workers.keys(),
    of: (state, id) => {
      const found = state.workers.get(id);
      return found && workerStanding(found);
    },
  },
};
