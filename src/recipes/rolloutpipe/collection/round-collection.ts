/**
 * What stands between the frontier and the assembly of groups: it keeps what each request has generated, and says when a
 * group counts, and when a round has all its groups. It decides nothing; whoever mints the requests need not count them.
 */
import { definePolicyByHand } from '../../../core/definition.ts';
import { check } from './check.ts';
import { askAgain, complete, completeIfEnded, failRound, leave } from './rounds.ts';
import { collectionSnapshot, load, migrateFromOne, save } from './snapshot.ts';
import {
  addResponse,
  addRound,
  type CollectionState,
  collectionConfig,
  forgetResponse,
  forgetRound,
  newState,
} from './state.ts';
import { type CollectionEvent, type Ctx, collectionDecisions, collectionEvents } from './words.ts';

function apply(state: CollectionState, event: CollectionEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'round.opened': {
      const { roundId, kind, weightVersion, prompts } = event;
      return completeIfEnded(addRound(state, { roundId, kind, weightVersion, openedSeconds: ctx.at, prompts }), ctx);
    }
    case 'request.arrived':
      state.generating.get(event.promptId)!.status = 'generating';
      return;
    case 'request.admit':
      addResponse(state, state.generating.get(event.promptId)!, event.requestId, event.index);
      return;
    case 'response.completed':
      return complete(state, event, ctx);
    case 'response.failed':
    case 'response.abandoned':
    case 'request.aborted':
    case 'request.dropped': {
      const response = state.responses.get(event.requestId);
      if (response !== undefined && !response.isCompleted) forgetResponse(state, response);
      return;
    }
    case 'group.left':
      return leave(state, event, ctx);
    case 'reward.ready':
    case 'reward.failed': {
      const response = state.responses.get(event.requestId);
      if (response?.isCompleted) response.isRewarded = true;
      return;
    }
    case 'group.rewarded':
    case 'group.unrewarded':
      state.rounds.get(event.roundId)!.groups.get(event.promptId)!.status = 'over';
      return;
    case 'round.rewarded': {
      const round = state.rounds.get(event.roundId);
      if (round !== undefined) forgetRound(state, round);
      return;
    }
    case 'round.failed':
      return failRound(state, event.roundId, ctx);
    case 'host.restarted':
      return askAgain(state, ctx);
  }
}

/** Keeps what each request has generated, and says when groups and rounds have all of it. */
export const roundCollection = definePolicyByHand({
  id: 'round-collection',
  version: 2,
  summary: 'Says when the groups of a round, and the round itself, have their responses.',
  source: 'RolloutPipe §3.1',
  config: collectionConfig,
  events: collectionEvents,
  decisions: collectionDecisions,
  state: collectionSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  // The recipe has a ledger of groups, from the opening of a round to the end of its training.
  ledgers: [],
});
