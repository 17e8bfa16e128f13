/** What blocks what in reward-dispatch. */
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/waits.ts';
import { deadlines } from './reports.ts';
import { type Dispatch, kinds, type RewardState, type Sample, type Worker } from './state.ts';

const dispatch = ({ id }: Dispatch): HeldThing => ({ what: 'dispatches', id });

/** What a queued response waits for: a worker of its kind, or a slot of one. */
function room({ pools }: RewardState, { kind }: Sample): readonly (HeldThing | AwaitedEvent)[] {
  const isThere = pools[kind].activeWorkers > 0;
  return [isThere ? { what: 'pools', id: kind } : { event: { type: 'reward-worker.added', kind } }];
}

function poolStanding({ dispatches, pools }: RewardState, id: string): Standing | undefined {
  const kind = kinds.find((one) => one === id);
  if (kind === undefined || pools[kind].activeWorkers === 0) return undefined;
  const taken = [...dispatches.values()].filter(({ worker }) => worker.active && worker.kind === kind);
  return { stands: `workers have ${pools[kind].open.size === 0 ? 'no' : 'a'} free slot`, for: taken.map(dispatch) };
}

/** What ends a dispatch: the answer of its worker, or the timer that does not wait for it any longer. */
function end({ id: dispatchId, workerId: by, deadline }: Dispatch, since?: number): readonly AwaitedEvent[] {
  return [
    { event: { type: 'reward.finished', dispatchId }, since, by },
    { event: { type: 'timer.fired', timerId: deadlines.timerId }, dueAt: deadline },
  ];
}

function sampleStanding(state: RewardState, one: Sample): Standing {
  const { dispatch: its, kind, since } = one;
  if (its === null) return { stands: `waits for a reward worker (${kind})`, since, for: room(state, one) };
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
  const stands = active ? `has ${running.size} of ${slots} slots taken` : 'takes no new dispatches';
  return { stands: `${stands} (${kind})`, for: runningOn(one) };
}

/** What blocks what: responses wait for workers, and workers for the end of what they compute. */
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
