/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { groupKey } from '../../core/trained-groups.ts';
import { refuse } from '../../errors.ts';
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
  if (state.requests.has(requestId)) refuse('duplicate_id', 'requestId', 'a new request id', requestId);
  if (state.endedRounds.has(roundId)) refuse('out_of_order', 'roundId', 'a round that is not over', roundId);
  const known = state.groups.get(promptId);
  if (known !== undefined && known.round.roundId !== roundId && !known.isClosing) {
    refuse('duplicate_id', 'roundId', `a prompt that is in no other open round than ${known.round.roundId}`, roundId);
  }
  const group = known?.round.roundId === roundId ? known : undefined;
  if (group?.places[placeOf(group, index)]?.status === 'completed') {
    refuse('duplicate_id', 'index', `a response of ${promptId} that is not complete`, index);
  }
  if (group === undefined && state.left.has(groupKey(roundId, promptId))) {
    refuse('out_of_order', 'promptId', 'a group that has not left the frontier (or `awaitRetries`)', promptId);
  }
}
