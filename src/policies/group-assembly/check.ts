/** Which events fit the state. Nothing is changed here. */
import { PolicyError } from '../../errors.ts';
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
    throw new PolicyError('duplicate_id', {
      expected: 'a prompt that does not count yet',
      got: promptId,
      path: 'promptId',
    });
  }
  if (round !== undefined && round.completed !== null) {
    throw new PolicyError('out_of_order', { expected: 'a round that is not complete', got: roundId, path: 'roundId' });
  }
  if (responses.length === 0) {
    throw new PolicyError('invalid_event', { expected: 'at least one response', got: [], path: 'responses' });
  }
  const seen = new Set<string>();
  responses.forEach(({ requestId }, index) => {
    const owner = state.byRequest.get(requestId)?.owner;
    const isOthers = owner !== undefined && (owner.round !== null || owner.promptId !== promptId);
    if (isOthers || seen.has(requestId)) {
      const path = `responses[${index}].requestId`;
      throw new PolicyError('duplicate_id', { expected: 'a response of this prompt, once', got: requestId, path });
    }
    seen.add(requestId);
  });
}

function checkCompleted(state: AssemblyState, { roundId, prompts, reason }: EventNamed<'round.completed'>): void {
  const round = state.rounds.get(roundId);
  if (round !== undefined && round.completed !== null) {
    throw new PolicyError('duplicate_id', { expected: 'a round that is not complete', got: roundId, path: 'roundId' });
  }
  const named = new Set<string>();
  prompts.forEach(({ promptId }, index) => {
    const isKnown = round?.groups.has(promptId) || round?.unrewarded.has(promptId);
    if (isKnown && !named.has(promptId)) {
      named.add(promptId);
      return;
    }
    const path = `prompts[${index}].promptId`;
    throw new PolicyError('unknown_id', { expected: 'a prompt that counts for the round, once', got: promptId, path });
  });
  const counts = (round?.groups.size ?? 0) + (round?.unrewarded.size ?? 0);
  if (reason.code !== 'round_failed' && named.size < counts) {
    const expected = `all ${counts} prompts that count for the round`;
    throw new PolicyError('invalid_event', { expected, got: named.size, path: 'prompts' });
  }
}
