/** Likely next events, for property tests: the usual ones often, late, repeated and odd ones now and then. */
import type { Choices } from '../../core/definition.ts';
import type { FinalPrompt } from '../../schemas/prompts.ts';
import type { Group, Round, StreamTrainingState } from './state.ts';
import type { StreamTrainingEvent } from './words.ts';

function pick<T>(list: readonly T[], choices: Choices): T | undefined {
  return list.length === 0 ? undefined : list[choices.below(list.length)];
}

/** A likely next event. */
export function arbitrary(state: StreamTrainingState, choices: Choices): StreamTrainingEvent {
  const at = choices.below(4) === 0 ? choices.below(200) : choices.below(5) + state.nextSeq + state.nextFetch;
  const rounds = [...state.rounds.values()];
  const over = state.recentRounds.length;
  if (rounds.length === 0 || (rounds.length < 3 && choices.below(20) === 0)) {
    return {
      type: 'round.opened',
      at,
      roundId: `r${over + rounds.length - (choices.below(9) === 0 ? 1 : 0)}`,
      kind: 'long',
      weightVersion: over,
      prompts: [],
    };
  }
  const round = choices.below(5) === 0 ? pick(rounds, choices)! : rounds[0]!;
  const roundId = choices.below(15) === 0 ? `r${choices.below(over + 2)}` : round.roundId;
  switch (choices.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: {
      const groupId = `p${choices.below(state.config.groupsPerRound + 3)}`;
      return { type: 'group.completed', at, roundId, groupId, samples: 2, tokens: choices.below(40) * 10 };
    }
    case 5:
    case 6:
      return gpusEvent(state, 'gpus.released', roundId, choices, at);
    case 7:
      if (round.groups.size >= state.config.groupsPerRound - 1) return completion(round, roundId, choices, at);
      break;
    case 8:
      return rareEvent(state, roundId, choices, at);
    case 9:
      if (rounds[0]!.phase === 'stepping' || choices.below(4) === 0) return { type: 'optimizer.stepped', at, roundId };
  }
  return workEvent(state, choices, at) ?? completion(round, roundId, choices, at);
}

function gpusEvent(
  state: StreamTrainingState,
  type: 'gpus.released' | 'gpus.returned',
  roundId: string,
  choices: Choices,
  at: number,
): StreamTrainingEvent {
  const gpuIds = [...state.byGpu.keys()].filter(() => choices.below(3) > 0);
  return { type, at, roundId, gpuIds };
}

function completion(round: Round, roundId: string, choices: Choices, at: number): StreamTrainingEvent {
  const isWhole = choices.below(4) > 0;
  const prompts = [...round.groups.values()].filter(() => isWhole || choices.below(5) > 0).map(finalPrompt);
  const reason = { code: 'quota_reached', counted: prompts.length, needed: prompts.length } as const;
  return {
    type: 'round.completed',
    at,
    roundId,
    kind: 'long',
    weightVersion: 0,
    prompts,
    openedSeconds: 0,
    deferred: 0,
    reason,
  };
}

function finalPrompt({ groupId, samples, tokens }: Group): FinalPrompt {
  const responses = Array.from({ length: samples }, (_, index) => {
    return { requestId: `${groupId}/${index}#0`, index, tokens: Math.floor(tokens / samples), weightVersions: [0] };
  });
  return { promptId: groupId, responses };
}

function workEvent(state: StreamTrainingState, choices: Choices, at: number): StreamTrainingEvent | undefined {
  const found = pick([...state.works.values()], choices);
  if (found === undefined) return undefined;
  const { work, replica } = found;
  const groups = work.groups.map((group) => group.groupId);
  if (groups.length > 1 && choices.below(6) === 0) groups.splice(choices.below(groups.length), 1);
  const type = (work.kind === 'fetch') === choices.below(20) > 0 ? 'train.consumed' : 'train.finished';
  const fetchId = choices.below(15) === 0 ? `${replica.id}#${choices.below(state.nextFetch + 1)}` : work.fetchId;
  const [samples, tokens, seconds] = [2 * groups.length, choices.below(100), choices.below(10)];
  return { type, at, fetchId, replica: replica.id, groups, samples, tokens, seconds };
}

function rareEvent(state: StreamTrainingState, roundId: string, choices: Choices, at: number): StreamTrainingEvent {
  const replica = pick(state.replicas, choices)!.id;
  switch (choices.below(8)) {
    case 0:
      return { type: 'round.failed', at, roundId };
    case 1:
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
    case 2:
    case 3:
      return { type: 'replica.lost', at, replica };
    case 4:
      return gpusEvent(state, 'gpus.returned', roundId, choices, at);
    default:
      return { type: 'replica.added', at, replica };
  }
}
