/** Which events fit the state. Nothing is changed here. */
import { refuse } from '../../errors.ts';
import type { AssemblyState } from './state.ts';
import type { AssemblyEvent, EventNamed } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: AssemblyState, event: AssemblyEvent): void {
  if (event.type === 'prompt.counted') checkCounted(state, event);
  else if (event.type === 'round.completed') checkCompleted(state, event);
}

function checkCounted(state: AssemblyState, { roundId, promptId, responses }: EventNamed<'prompt.counted'>): void {
  const round = state.rounds.get(roundId);
  if (round?.groups.has(promptId) || round?.unrewarded.has(promptId)) {
    refuse('duplicate_id', 'promptId', 'a prompt that does not count yet', promptId);
  }
  if (round !== undefined && round.completed !== null) {
    refuse('out_of_order', 'roundId', 'a round that is not complete', roundId);
  }
  if (responses.length === 0) refuse('invalid_event', 'responses', 'at least one response', []);
  const seen = new Set<string>();
  responses.forEach(({ requestId }, index) => {
    const owner = state.byRequest.get(requestId)?.owner;
    const isOthers = owner !== undefined && (owner.round !== null || owner.promptId !== promptId);
    if (isOthers || seen.has(requestId)) {
      const path = `responses[${index}].requestId`;
      refuse('duplicate_id', path, 'a response of this prompt, once', requestId);
    }
    seen.add(requestId);
  });
}

function checkCompleted(state: AssemblyState, { roundId, prompts, reason }: EventNamed<'round.completed'>): void {
  const round = state.rounds.get(roundId);
  if (round !== undefined && round.completed !== null) {
    refuse('duplicate_id', 'roundId', 'a round that is not complete', roundId);
  }
  const named = new Set<string>();
  prompts.forEach(({ promptId }, index) => {
    const isKnown = round?.groups.has(promptId) || round?.unrewarded.has(promptId);
    if (isKnown && !named.has(promptId)) {
      named.add(promptId);
      return;
    }
    const path = `prompts[${index}].promptId`;
    refuse('unknown_id', path, 'a prompt that counts for the round, once', promptId);
  });
  const counts = (round?.groups.size ?? 0) + (round?.unrewarded.size ?? 0);
  if (reason.code !== 'round_failed' && named.size < counts) {
    refuse('invalid_event', 'prompts', `all ${counts} prompts that count for the round`, named.size);
  }
}
