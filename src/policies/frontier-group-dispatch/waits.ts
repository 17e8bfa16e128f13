/** What blocks what in frontier-group-dispatch: requests wait for a slot, slots for groups in service, and groups for requests. */
import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { type FrontierState, type Group, isUnfinished, type Request, type Round } from './state.ts';

type Next = HeldThing | AwaitedEvent;

const prompt = ({ promptId: id }: Group): HeldThing => ({ what: 'prompts', id });

/** The slots for which deferred groups wait. */
const slots: readonly HeldThing[] = Object.freeze([{ what: 'slots', id: 'frontier' }]);

/** What a slot waits for: some group in service leaves. */
function* inService({ groups }: FrontierState): Iterable<HeldThing> {
  for (const group of groups.values()) if (group.since !== null) yield prompt(group);
}

/** What a group in service waits for: its requests, and requests that have not come. */
function* requests({ config }: FrontierState, group: Group): Iterable<Next> {
  const { places, promptId, roundId, since, isClosing } = group;
  for (const one of places) {
    if (isUnfinished(one)) yield { what: 'requests', id: one.requestId };
    else if (one.status === 'open' && !isClosing) yield* retry(one);
  }
  if (isClosing) return;
  const known = new Set(places.map(({ index }) => index));
  for (let index = 0; known.size < config.responsesPerPrompt; index += 1) {
    if (known.has(index)) continue;
    known.add(index);
    yield { event: { type: 'request.arrived', promptId, roundId, index }, since: since ?? undefined };
  }
}

/** What a failed request's place waits for. */
function* retry({ group: { promptId, roundId }, index, isHeld, requestId }: Request): Iterable<AwaitedEvent> {
  yield { event: { type: 'request.arrived', promptId, roundId, index } };
  if (isHeld) yield { event: { type: 'response.abandoned', requestId } };
}

function groupStanding(state: FrontierState, group: Group): Standing {
  const { since, completed, isClosing, order } = group;
  if (since === null && group.unfinished > 0) return { stands: `waits for a slot, as number ${order}`, for: slots };
  const { config } = state;
  const stands = isClosing
    ? 'is closed, and what runs of it ends'
    : `has ${completed} of ${config.responsesPerPrompt} responses`;
  return { stands, ...(since === null ? undefined : { since }), for: requests(state, group) };
}

function requestStanding({ requestId, status, mark, group }: Request): Standing {
  switch (status) {
    case 'waiting':
      return { stands: 'is not admitted yet', for: [prompt(group)] };
    case 'admitted':
      return {
        stands: 'is admitted to the engines',
        since: mark.since,
        for: [{ event: { type: 'response.completed', requestId }, since: mark.since }],
      };
    case 'aborting':
      return { stands: 'is being aborted', for: [{ event: { type: 'request.aborted', requestId } }] };
    default:
      return {
        stands: `${status === 'completed' ? 'is complete' : 'has failed'}, and its group goes on`,
        for: [prompt(group)],
      };
  }
}

function roundStanding({ groups }: Round): Standing {
  let served = 0;
  for (const { since } of groups) if (since !== null) served += 1;
  return { stands: `has ${served} of ${groups.size} groups in service`, for: [...groups].map(prompt) };
}

function* requestIds({ groups }: FrontierState, isListed: (one: Request) => boolean): Iterable<string> {
  for (const { places } of groups.values()) for (const one of places) if (isListed(one)) yield one.requestId;
}

/** Engines have only admitted requests, so no engine can end a request before its admission. */
export const gates: Gates<FrontierState> = {
  'response.completed': ({ requests }, event) => {
    const id = event.requestId as string;
    const { status, mark } = requests.get(id) ?? {};
    if (status === 'waiting') return [{ what: 'waiting', id }];
    return status === 'admitted' ? [{ event, since: mark!.since }] : [];
  },
};

export const waits: Waits<FrontierState> = {
  prompts: {
    ids: ({ groups }) => groups.keys(),
    of: (state, id) => {
      const found = state.groups.get(id);
      return found && groupStanding(state, found);
    },
  },
  requests: {
    ids: (state) => requestIds(state, ({ isHeld }) => isHeld),
    of: (state, id) => {
      const found = state.requests.get(id);
      return found && requestStanding(found);
    },
  },
  waiting: {
    ids: (state) => requestIds(state, ({ status }) => status === 'waiting'),
    of: (state, id) => {
      const found = state.requests.get(id);
      return found?.status === 'waiting' ? requestStanding(found) : undefined;
    },
  },
  slots: {
    ids: () => ['frontier'],
    of: (state, id) =>
      id === 'frontier'
        ? { stands: `has ${state.inService} of ${state.width} groups in service`, for: inService(state) }
        : undefined,
  },
  rounds: {
    ids: ({ rounds }) => [...rounds.values()].flatMap(({ roundId, groups }) => (groups.size > 0 ? [roundId] : [])),
    of: ({ rounds }, id) => {
      const found = rounds.get(id);
      return found === undefined || found.groups.size === 0 ? undefined : roundStanding(found);
    },
  },
};
