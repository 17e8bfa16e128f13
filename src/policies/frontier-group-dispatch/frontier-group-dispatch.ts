/**
 * Frontier-group dispatch (RolloutPipe §3.3): an admission in front of the engines that serves at most F_w groups at
 * once, lowest order first, so that complete groups reach the trainer early and steadily. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type Ledger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import type {
  FrontierGroupDispatchConfig,
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchTypes,
} from '../../generated/settings/frontier-group-dispatch.ts';
import { promptCollected, promptDeferred, promptFailed } from '../../schemas/decisions/prompts.ts';
import {
  requestAbort,
  requestLaunch,
  responseAbandoned,
  responseDropped,
  responseSurplus,
} from '../../schemas/decisions/requests.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { requestArrived } from '../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { trainConsumed } from '../../schemas/events/training.ts';
import type { Message } from '../../schemas/messages.ts';
import { frontierDecisions, on } from './messages.ts';
import * as requests from './requests.ts';
import { consumed } from './resize.ts';
import { restart } from './restart.ts';
import { frontierConfig } from './schema.ts';
import { begin, type FrontierState, frontierState, link, type SavedFrontier } from './state.ts';
import { gates, waits } from './waits.ts';

const handlers = [
  on([requestArrived, requestLaunch], requests.arrived, requests.checkArrival),
  on(responseCompleted, requests.completed),
  on(responseFailed, requests.failed),
  on(responseAbandoned, requests.abandoned),
  on(responseDropped, requests.dropped),
  on(responseSurplus, requests.surplus),
  on(requestAbort, requests.abort),
  on(requestAborted, requests.giveUp),
  on(promptCollected, requests.closed),
  on(promptDeferred, requests.deferred),
  on(promptFailed, requests.closed),
  on([roundCompleted, roundFailed], requests.roundOver),
  on(trainConsumed, consumed),
  on(hostRestarted, restart, checkNewPrefix),
];

const entered = (event: Message): string[] =>
  event.type === 'request.arrived' || event.type === 'request.launch' ? [event.requestId] : [];

/** Holds requests until their group leaves, or until a decision drops them. */
const requestLedger: Ledger<SavedFrontier, Message, FrontierGroupDispatchDecision, FrontierGroupDispatchConfig> = {
  name: 'requests',
  entered,
  left: (decision) => {
    if (decision.type === 'group.left') return decision.requestIds;
    return decision.type === 'request.dropped' ? [decision.requestId] : [];
  },
  held: ({ groups }) => groups.flatMap(({ places }) => places.filter((one) => one.isHeld).map((one) => one.requestId)),
  // The policy mints no ids. But one request lets the policy wait for a whole group, and after a restart it names each response
  // of the group.
  mints: ({ responsesPerPrompt }) => responsesPerPrompt,
};

/** Holds waiting requests: each leaves once, admitted or dropped. */
const waitingLedger: Ledger<SavedFrontier, Message, FrontierGroupDispatchDecision> = {
  name: 'waiting',
  entered,
  left: (decision) => {
    if (decision.type === 'request.admit') return [decision.requestId];
    if (decision.type !== 'request.dropped' || decision.admitted) return [];
    return decision.reason.code === 'replaced' && decision.reason.ended ? [] : [decision.requestId];
  },
  held: ({ groups }) =>
    groups.flatMap(({ places }) => places.filter((one) => one.status === 'waiting').map((one) => one.requestId)),
};

/** Admits requests by groups, with at most F_w groups in service. */
export const frontierGroupDispatch: PolicyDefinitionOf<FrontierGroupDispatchTypes, FrontierState, SavedFrontier> =
  definePolicy({
    id: 'frontier-group-dispatch',
    version: 3,
    summary: 'Admits the requests of at most F_w groups at once, lowest order first.',
    source: 'RolloutPipe §3.3',
    config: frontierConfig,
    state: frontierState,
    begin,
    link,
    handlers,
    decisions: frontierDecisions,
    ledgers: [requestLedger, waitingLedger],
    waits,
    gates,
  });
