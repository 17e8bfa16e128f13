/** What blocks what in the collection: rounds wait for groups, and groups for requests and rewards. */
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../../core/why/waits.ts';
import { groupKey } from '../../../schemas/moves.ts';
import { type CollectionState, completedOf, type Group, type Response, type Round } from './state.ts';

function* firstRequests({ config }: CollectionState, { prompt: { promptId }, round }: Group): Iterable<AwaitedEvent> {
  const { roundId, openedSeconds: since } = round;
  for (let index = 0; index < config.responsesPerPrompt; index += 1) {
    yield { event: { type: 'request.arrived', promptId, roundId, index }, since };
  }
}

function* rewards(group: Group): Iterable<HeldThing> {
  for (const { requestId, isRewarded } of completedOf(group)) {
    if (!isRewarded) yield { what: 'responses', id: requestId };
  }
}

function groupStanding(state: CollectionState, group: Group): Standing {
  const { status, prompt, round } = group;
  if (status === 'opened') {
    return { stands: 'has no request yet', since: round.openedSeconds, for: firstRequests(state, group) };
  }
  const completed = completedOf(group);
  if (status === 'generating') {
    return {
      stands: `has ${completed.length} of ${state.config.responsesPerPrompt} responses`,
      since: round.openedSeconds,
      for: [{ event: { type: 'group.left', promptId: prompt.promptId } }],
    };
  }
  const rewarded = completed.filter(({ isRewarded }) => isRewarded).length;
  return { stands: `has the rewards of ${rewarded} of ${completed.length} responses`, for: rewards(group) };
}

const isHeld = ({ status }: Group): boolean => status !== 'over';

function roundStanding({ groups, generating, openedSeconds: since }: Round): Standing {
  const left: HeldThing[] = [];
  for (const [id, group] of groups) if (isHeld(group)) left.push({ what: 'prompts', id });
  return {
    stands: `has ${groups.size - generating} of ${groups.size} groups generated`,
    since,
    for: left,
  };
}

function responseStanding({ requestId, isCompleted, isRewarded, group }: Response): Standing {
  if (!isCompleted) return { stands: 'runs on an engine', for: [{ event: { type: 'response.completed', requestId } }] };
  if (isRewarded) return { stands: 'has its reward', for: [{ what: 'prompts', id: group.prompt.promptId }] };
  return { stands: 'has no reward', for: [{ event: { type: 'reward.ready', requestId } }] };
}

function* keysOf({ rounds }: CollectionState): Iterable<readonly [roundId: string, promptId: string]> {
  for (const { roundId, groups } of rounds.values()) {
    for (const [promptId, group] of groups) if (isHeld(group)) yield [roundId, promptId];
  }
}

/** Says what blocks what in the collection. */
export const waits: Waits<CollectionState> = {
  rounds: {
    ids: ({ rounds }) => rounds.keys(),
    of: ({ rounds }, id) => {
      const found = rounds.get(id);
      return found && roundStanding(found);
    },
  },
  prompts: {
    ids: (state) => new Set([...keysOf(state)].map(([, promptId]) => promptId)),
    of: (state, id) => {
      for (const { groups } of state.rounds.values()) {
        const found = groups.get(id);
        if (found !== undefined && isHeld(found)) return groupStanding(state, found);
      }
      return undefined;
    },
  },
  groups: {
    ids: (state) => [...keysOf(state)].map(([roundId, promptId]) => groupKey(roundId, promptId)),
    of: (state, key) => {
      for (const { roundId, groups } of state.rounds.values()) {
        const promptId = key.slice(roundId.length + 1);
        const found = groupKey(roundId, promptId) === key ? groups.get(promptId) : undefined;
        if (found !== undefined && isHeld(found)) return groupStanding(state, found);
      }
      return undefined;
    },
  },
  responses: {
    ids: ({ responses }) => responses.keys(),
    of: ({ responses }, id) => {
      const found = responses.get(id);
      return found && responseStanding(found);
    },
  },
};
