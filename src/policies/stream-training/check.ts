/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import { currentStep, type Round, type StreamTrainingState, wasFetch, wasUpdate } from './state.ts';
import type { EventNamed, StreamTrainingEvent } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: StreamTrainingState, event: StreamTrainingEvent): void {
  switch (event.type) {
    case 'round.opened':
      if (!state.rounds.has(event.roundId) && !state.recentRounds.has(event.roundId)) return;
      return refuse('duplicate_id', 'roundId', 'a new round id', event.roundId);
    case 'group.completed':
    case 'round.failed':
      checkRound(state, event.roundId);
      return;
    case 'round.completed':
      return checkCompletion(checkRound(state, event.roundId), event);
    case 'gpus.released':
    case 'gpus.returned':
      if (event.roundId !== undefined) checkRound(state, event.roundId);
      return checkGpus(state, event.gpuIds);
    case 'train.consumed':
    case 'train.finished':
      return checkWork(state, event);
    case 'optimizer.stepped':
      return checkStep(state, event);
    case 'replica.lost':
    case 'replica.added':
      return checkReplica(state, event.replica);
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
  }
}

/** The round, or `undefined` for one that is over. */
function checkRound(state: StreamTrainingState, roundId: string): Round | undefined {
  const round = state.rounds.get(roundId);
  if (round !== undefined || state.recentRounds.has(roundId)) return round;
  return refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
}

function checkCompletion(round: Round | undefined, { prompts }: EventNamed<'round.completed'>): void {
  if (round === undefined || round.completedSeconds !== null) return;
  const seen = new Set<string>();
  prompts.forEach(({ promptId }, index) => {
    const path = `prompts[${index}].promptId`;
    if (!round.groups.has(promptId)) refuse('unknown_id', path, 'a group that was completed', promptId);
    if (seen.has(promptId)) refuse('duplicate_id', path, 'every group once', promptId);
    seen.add(promptId);
  });
}

function checkGpus(state: StreamTrainingState, gpuIds: readonly string[]): void {
  gpuIds.forEach((gpuId, index) => {
    if (!state.byGpu.has(gpuId)) refuse('unknown_id', `gpuIds[${index}]`, 'a GPU of a training replica', gpuId);
  });
}

function checkReplica(state: StreamTrainingState, replica: string): void {
  if (!state.byId.has(replica)) refuse('unknown_id', 'replica', `one of ${[...state.byId.keys()].join(', ')}`, replica);
}

function checkWork(
  state: StreamTrainingState,
  { type, fetchId, replica, groups }: EventNamed<'train.consumed'> | EventNamed<'train.finished'>,
): void {
  checkReplica(state, replica);
  const found = state.works.get(fetchId);
  if (found === undefined) {
    if (!wasFetch(state, fetchId)) refuse('unknown_id', 'fetchId', 'a fetch or share that was decided', fetchId);
    return;
  }
  const { work } = found;
  if (found.replica.id !== replica) refuse('invalid_event', 'replica', found.replica.id, replica);
  const word = work.kind === 'fetch' ? 'train.consumed' : 'train.finished';
  if (word !== type) refuse('invalid_event', 'type', `${word} for ${fetchId}`, type);
  if (groups.length === 0 && work.groups.length > 0)
    refuse('invalid_event', 'groups', 'at least one group of the fetch', groups);
  // The usual answer names the groups as they were given.
  if (groups.length === work.groups.length && groups.every((id, index) => id === work.groups[index]!.groupId)) return;
  const given = new Set(work.groups.map((group) => group.groupId));
  groups.forEach((id, index) => {
    if (!given.delete(id)) refuse('invalid_event', `groups[${index}]`, 'groups of the fetch, each once', id);
  });
}

function checkStep(state: StreamTrainingState, { roundId, updateId }: EventNamed<'optimizer.stepped'>): void {
  if (updateId === currentStep(state)) {
    const head = state.head!;
    if (roundId !== head.roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  } else if (!wasUpdate(state, updateId)) {
    refuse('unknown_id', 'updateId', 'an `optimizer.step` that was decided', updateId);
  }
}
