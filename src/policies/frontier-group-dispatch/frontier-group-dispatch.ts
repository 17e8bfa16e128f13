/**
 * Frontier-group dispatch (RolloutPipe §3.3): an admission in front of the engines that serves at most F_w groups at
 * once, lowest order first, so that complete groups reach the trainer early and steadily. See README.md.
 */
import { definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { check } from './check.ts';
import * as requests from './requests.ts';
import { consumed } from './resize.ts';
import { hostRestarted } from './restart.ts';
import { type FrontierConfig, frontierConfig } from './schema.ts';
import { frontierSnapshot, load, migrateFromOne, type SavedFrontier, save } from './snapshot.ts';
import { type FrontierState, newState } from './state.ts';
import { type Ctx, type FrontierDecision, type FrontierEvent, frontierDecisions, frontierEvents } from './words.ts';

function apply(state: FrontierState, event: FrontierEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'request.arrived':
    case 'request.launch':
      return requests.arrived(state, event, ctx);
    case 'response.completed':
      return requests.completed(state, event.requestId, event.tokens, ctx);
    case 'response.failed':
      return requests.failed(state, event.requestId, ctx);
    case 'response.abandoned':
      return requests.abandoned(state, event.requestId, ctx);
    case 'request.abort':
      return requests.abort(state, event.requestId, ctx);
    case 'request.aborted':
      return requests.giveUp(state, event.requestId, ctx);
    case 'prompt.collected':
    case 'prompt.quarantined':
      return requests.closed(state, event.promptId, event.roundId, ctx);
    case 'prompt.deferred':
      return requests.deferred(state, event, ctx);
    case 'round.completed':
    case 'round.failed':
      return requests.roundOver(state, event.roundId, ctx);
    case 'train.consumed':
      return consumed(state, event.groups.length, event.seconds, ctx);
    case 'host.restarted':
      return hostRestarted(state, event.idPrefix, ctx);
  }
}

const entered = (event: FrontierEvent): string[] =>
  event.type === 'request.arrived' || event.type === 'request.launch' ? [event.requestId] : [];

/** Requests are here until their group leaves, or they are dropped by name. */
const requestLedger: Ledger<SavedFrontier, FrontierEvent, FrontierDecision, FrontierConfig> = {
  name: 'requests',
  entered,
  left: (decision) => {
    if (decision.type === 'group.left') return decision.requestIds;
    return decision.type === 'request.dropped' ? [decision.requestId] : [];
  },
  held: ({ groups }) =>
    groups.flatMap(({ requests: all }) => all.filter((one) => one.isHeld).map((one) => one.requestId)),
  // It mints none, but one request makes it wait for all of its group, and after a restart it names each of them.
  mints: ({ responsesPerPrompt }) => responsesPerPrompt,
};

/** Requests wait until they are admitted, once, or dropped. */
const waitingLedger: Ledger<SavedFrontier, FrontierEvent, FrontierDecision> = {
  name: 'waiting',
  entered,
  left: (decision) => {
    if (decision.type === 'request.admit') return [decision.requestId];
    if (decision.type !== 'request.dropped' || decision.admitted) return [];
    return decision.reason.code === 'replaced' && decision.reason.ended ? [] : [decision.requestId];
  },
  held: ({ groups }) =>
    groups.flatMap(({ requests: all }) => all.filter((one) => one.status === 'waiting').map((one) => one.requestId)),
};

/** Admits requests by groups, at most F_w of them in service at once. */
export const frontierGroupDispatch = definePolicyByHand({
  id: 'frontier-group-dispatch',
  version: 2,
  summary: 'Admits the requests of at most F_w groups at once, lowest order first.',
  source: 'RolloutPipe §3.3',
  config: frontierConfig,
  events: frontierEvents,
  decisions: frontierDecisions,
  state: frontierSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [requestLedger, waitingLedger],
});
