/** What blocks what in gpu-scale-down. */
import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { targetOf } from './schema.ts';
import type { Engine, Release, ScaleDownState } from './state.ts';

/** Ids of requests that are moving to another engine. */
function moving({ moves }: Release): string[] {
  return [...moves].flatMap(([id, { status }]) => (status === 'moving' ? [id] : []));
}

/** What a release waits for: first the moving requests, then the host. */
function releasing({ round }: ScaleDownState, release: Release): readonly (HeldThing | AwaitedEvent)[] {
  const ids = moving(release);
  if (ids.length > 0) return ids.map((id) => ({ what: 'requests', id }));
  return [{ event: { type: 'gpus.released', roundId: round!.roundId, releaseId: release.releaseId } }];
}

function releaseStanding(state: ScaleDownState, release: Release): Standing {
  const { releaseId, phase } = release;
  switch (phase) {
    case 'releasing':
      return { stands: 'takes its GPUs from the rollout', for: releasing(state, release) };
    case 'released':
      return { stands: 'has given its GPUs to training', for: [{ what: 'rounds', id: state.round!.roundId }] };
    default:
      return { stands: 'wants its GPUs back', for: [{ event: { type: 'gpus.returned', releaseId } }] };
  }
}

function moveStanding({ topology }: ScaleDownState, { moves, releaseId }: Release, requestId: string): Standing {
  const move = moves.get(requestId)!;
  const [from, to] = [move.from, move.to].map((engineIndex) => topology.engines[engineIndex]!.engineId);
  const { attempts: attempt } = move;
  const event = { type: 'request.migrated', releaseId, requestId };
  return {
    stands: `moves from engine ${from} to engine ${to}`,
    for: [{ event: attempt > 1 ? { ...event, attempt } : event, by: to }],
  };
}

const engineOf = ({ topology }: ScaleDownState, gpuId: string): Engine | undefined =>
  topology.engines.find(({ gpuIds }) => gpuIds.includes(gpuId));

function gpuStanding({ topology, status, release }: ScaleDownState, { engineId }: Engine): Standing {
  const engineIndex = topology.engineIndexOf.get(engineId)!;
  if (release?.engines.includes(engineIndex)) {
    const { phase, releaseId } = release;
    const stands = {
      releasing: 'is to leave the rollout',
      released: 'trains',
      reclaiming: 'is to go back to the rollout',
    };
    return { stands: stands[phase], for: [{ what: 'releases', id: releaseId }] };
  }
  const is = { up: 'rolls out', drained: 'takes no new requests', lost: 'is lost' };
  return { stands: `${is[status[engineIndex]!]} (engine ${engineId})`, for: [] };
}

/** What has to end before events are accepted. */
export const gates: Gates<ScaleDownState> = {
  'engines.placed': ({ release, round }) => [
    ...(release === undefined ? [] : [{ what: 'releases', id: release.releaseId }]),
    ...(round?.fixed === true ? [{ what: 'rounds', id: round.roundId }] : []),
  ],
};

/** What blocks what: GPUs wait for their release, and a release for the requests that move, for the host, or for the round. */
export const waits: Waits<ScaleDownState> = {
  releases: {
    ids: ({ release }) => (release === undefined ? [] : [release.releaseId]),
    of: (state, id) => (state.release?.releaseId === id ? releaseStanding(state, state.release) : undefined),
  },
  requests: {
    ids: ({ release }) => (release === undefined ? [] : moving(release)),
    of: (state, id) => {
      const { release } = state;
      return release?.moves.get(id)?.status === 'moving' ? moveStanding(state, release, id) : undefined;
    },
  },
  queries: {
    ids: ({ query }) => (query === undefined ? [] : [query.queryId]),
    of: ({ query }, queryId) =>
      query?.queryId === queryId
        ? { stands: 'asks for the progress of requests', for: [{ event: { type: 'progress.reported', queryId } }] }
        : undefined,
  },
  rounds: {
    ids: ({ round }) => (round === undefined ? [] : [round.roundId]),
    of: ({ round, config }, roundId) =>
      round?.roundId === roundId
        ? {
            stands: `has ${round.finished} of ${targetOf(config)} ${config.progressUnit}`,
            for: [{ event: { type: 'round.completed', roundId } }],
          }
        : undefined,
  },
  gpus: {
    ids: ({ topology }) => topology.engines.flatMap(({ gpuIds }) => gpuIds),
    of: (state, id) => {
      const engine = engineOf(state, id);
      return engine && gpuStanding(state, engine);
    },
  },
};
