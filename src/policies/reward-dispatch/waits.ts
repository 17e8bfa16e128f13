/** What blocks what in reward-dispatch. */
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/waits.ts';
import { timerId } from './dispatches.ts';
import type { Dispatch, RewardState, Sample, Worker } from './state.ts';

const dispatch = ({ id }: Dispatch): HeldThing => ({ what: 'dispatches', id });

/** What a queued response waits for: a worker of its kind, or the end of any dispatch that takes a slot of one. */
function room({ dispatches, pools }: RewardState, { kind }: Sample): readonly (HeldThing | AwaitedEvent)[] {
  if (pools[kind].activeWorkers === 0) return [{ event: { type: 'reward-worker.added', kind } }];
  return [...dispatches.values()].filter(({ worker }) => worker.active && worker.kind === kind).map(dispatch);
}

function sampleStanding(state: RewardState, one: Sample): Standing {
  const { dispatch: its, kind, since } = one;
  if (its === null) return { stands: `waits for a reward worker (${kind})`, since, for: room(state, one) };
  return { stands: `is computed by reward worker ${its.workerId}`, since: its.dispatchedAt, for: [dispatch(its)] };
}

function dispatchStanding({ id: dispatchId, workerId: by, dispatchedAt, deadline, cancelled }: Dispatch): Standing {
  const since = cancelled ? undefined : dispatchedAt;
  return {
    stands: cancelled ? `is being cancelled on reward worker ${by}` : `runs on reward worker ${by}`,
    since,
    for: [
      { event: { type: 'reward.finished', dispatchId }, since, by },
      { event: { type: 'timer.fired', timerId }, dueAt: deadline },
    ],
  };
}

function workerStanding({ dispatches }: RewardState, one: Worker): Standing {
  const { active, running, slots, kind } = one;
  const stands = active ? `has ${running.size} of ${slots} slots taken` : 'takes no new dispatches';
  return {
    stands: `${stands} (${kind})`,
    for: [...dispatches.values()].filter(({ worker }) => worker === one).map(dispatch),
  };
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
  workers: {
    ids: ({ workers }) => workers.keys(),
    of: (state, id) => {
      const found = state.workers.get(id);
      return found && workerStanding(state, found);
    },
  },
};
