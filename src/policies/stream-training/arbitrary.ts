/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { StreamTrainingEvent } from '../../generated/settings/stream-training.ts';
import type { Message } from '../../schemas/messages.ts';
import type { FinalPrompt } from '../../schemas/prompts.ts';
import { updateIds } from './rounds.ts';
import type { Group, Round, StreamTrainingState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: StreamTrainingState, choices: Choices): StreamTrainingEvent {
  const at = choices.below(4) === 0 ? choices.below(200) : choices.below(5) + state.nextSeq + state.nextFetch;
  const rounds = [...state.rounds.values()];
  const over = state.recentRounds.size;
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
  const head = rounds[0]!;
  const round = choices.below(6) === 0 ? pick(rounds, choices)! : head;
  const roundId = choices.below(20) === 0 ? `r${choices.below(over + 2)}` : round.roundId;
  if (choices.below(8) === 0) return rareEvent(state, roundId, choices, at);
  if (head.phase === 'stepping' && choices.below(2) === 0) {
    return {
      type: 'optimizer.stepped',
      at,
      roundId: head.roundId,
      updateId: updateIds.of(state, state.nextUpdate - 1),
    };
  }
  const isFull = round.groups.size >= state.config.groupsPerRound;
  if (choices.below(isFull ? 2 : 25) === 0) return completion(round, roundId, choices, at);
  if (round.released.size === 0 && choices.below(3) === 0)
    return gpusEvent(state, 'gpus.released', roundId, choices, at);
  if (choices.below(2) === 0) {
    const work = workEvent(state, choices, at);
    if (work !== undefined) return work;
  }
  const groupId = `p${choices.below(4) === 0 ? choices.below(9) : round.groups.size}`;
  return { type: 'group.completed', at, roundId, groupId, samples: 2, tokens: choices.below(40) * 10 };
}

function gpusEvent(
  state: StreamTrainingState,
  type: 'gpus.released' | 'gpus.returned',
  roundId: string,
  choices: Choices,
  at: number,
): StreamTrainingEvent {
  const gpuIds = [...state.byGpu.keys()].filter(() => choices.below(6) > 0);
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
  switch (choices.below(9)) {
    case 0:
      if (choices.below(3) > 0) break;
      return { type: 'round.failed', at, roundId };
    case 1:
      if (choices.below(3) > 0) break;
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
    case 2:
    case 3:
      return { type: 'replica.lost', at, replica };
    case 4:
      return gpusEvent(state, 'gpus.returned', roundId, choices, at);
    case 5:
      return gpusEvent(state, 'gpus.released', roundId, choices, at);
    case 6:
      return steppedEvent(state, roundId, choices, at);
  }
  return { type: 'replica.added', at, replica };
}

/** Picks a step; sometimes one that was given up or never decided. */
function steppedEvent(
  state: StreamTrainingState,
  roundId: string,
  choices: Choices,
  at: number,
): Message<'optimizer.stepped'> {
  const withdrawn = pick([...state.withdrawnSteps], choices);
  const other = updateIds.of(state, choices.below(state.nextUpdate + 1));
  const updateId = withdrawn !== undefined && choices.below(2) === 0 ? withdrawn : other;
  return { type: 'optimizer.stepped', at, roundId, updateId };
}
