/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/prefix.ts';
import { groupKey } from '../../core/trained-groups.ts';
import { PolicyError } from '../../errors.ts';
import { type FrontierState, placeOf } from './state.ts';
import type { EventNamed, FrontierEvent } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: FrontierState, event: FrontierEvent): void {
  if (event.type === 'request.arrived' || event.type === 'request.launch') checkArrival(state, event);
  else if (event.type === 'host.restarted') checkNewPrefix(state, event.idPrefix);
}

function checkArrival(
  state: FrontierState,
  { requestId, promptId, roundId, index }: EventNamed<'request.arrived'> | EventNamed<'request.launch'>,
): void {
  if (state.requests.has(requestId)) {
    throw new PolicyError('duplicate_id', { expected: 'a new request id', got: requestId, path: 'requestId' });
  }
  if (state.endedRounds.has(roundId)) {
    throw new PolicyError('out_of_order', { expected: 'a round that is not over', got: roundId, path: 'roundId' });
  }
  const known = state.groups.get(promptId);
  if (known !== undefined && known.round.roundId !== roundId && !known.isClosing) {
    const expected = `a prompt that is in no other open round than ${known.round.roundId}`;
    throw new PolicyError('duplicate_id', { expected, got: roundId, path: 'roundId' });
  }
  const group = known?.round.roundId === roundId ? known : undefined;
  if (group?.places[placeOf(group, index)]?.status === 'completed') {
    const expected = `a response of ${promptId} that is not complete`;
    throw new PolicyError('duplicate_id', { expected, got: index, path: 'index' });
  }
  if (group === undefined && state.left.has(groupKey(roundId, promptId))) {
    const expected = 'a group that has not left the frontier (or `awaitRetries`)';
    throw new PolicyError('out_of_order', { expected, got: promptId, path: 'promptId' });
  }
}
