/**
 * Frontier-group dispatch (RolloutPipe §3.3): an admission in front of the engines that serves at most F_w groups at
 * once, lowest order first, so that complete groups reach the trainer early and steadily. See README.md.
 */

import { given } from '../../core/collections/given.ts';
import { checkNewPrefix, replacePrefix } from '../../core/ids/minted-ids.ts';
import {
  definePolicy,
  type HeldLedger,
  handlersOf,
  type Ledger,
  type PolicyDefinitionOf,
} from '../../core/machine/definition.ts';
import type {
  FrontierGroupDispatchConfig,
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchTypes,
} from '../../generated/settings/frontier-group-dispatch.ts';
import {
  frontierResized,
  frontierStarved,
  groupLeft,
  requestAdmit,
  requestAwaited,
  requestDeferred,
  requestDropped,
} from '../../schemas/decisions/frontier.ts';
import { promptCollected, promptDeferred, promptFailed } from '../../schemas/decisions/prompts.ts';
import {
  requestAbort,
  requestLaunch,
  responseAbandoned,
  responseDropped,
  responseLate,
  responseSurplus,
} from '../../schemas/decisions/requests.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { requestArrived } from '../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { trainConsumed } from '../../schemas/events/training.ts';
import type { Message } from '../../schemas/messages.ts';
import * as requests from './requests.ts';
import { frontierConfig } from './schema.ts';
import {
  begin,
  type Ctx,
  type FrontierState,
  frontierState,
  type Group,
  isUnfinished,
  link,
  type Request,
  type SavedFrontier,
} from './state.ts';
import { gates, waits } from './waits.ts';
import { consumed } from './width.ts';

const on = handlersOf<FrontierState, FrontierGroupDispatchDecision>();
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

/**
 * Drops all requests that were in flight or waiting, except those that came since the restart. Their groups keep their slots for
 * the responses still needed.
 */
function restart(state: FrontierState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  const owed = [...state.groups.values()].map((group) => ({ group, indices: loseRequests(state, group, ctx) }));
  for (const { group, indices } of owed) {
    requests.leaveIfDone(state, group, ctx);
    for (const index of indices) ask(group, index, ctx);
  }
  requests.refill(state, ctx);
}

/**
 * Drops the lost requests of a group, and names each in a decision. Only as many responses are requested as the group still
 * needs, because a response that comes after the group has left would belong to another group. Returns the indices that no
 * dropped request has named.
 */
function loseRequests(state: FrontierState, group: Group, ctx: Ctx): number[] {
  const { places, isClosing } = group;
  const { responsesPerPrompt } = state.config;
  const lost = new Set(places.filter((one) => isUnfinished(one) && !cameSince(state, one)));
  for (const request of lost) {
    if (request.status === 'aborting') requests.drop(state, request, 'gone', { code: 'aborted' }, ctx);
  }
  const open = places.filter((one) => one.status === 'open' || (lost.has(one) && isUnfinished(one)));
  const here = places.filter((one) => isUnfinished(one) && !lost.has(one)).length;
  const needed = isClosing ? 0 : Math.max(0, responsesPerPrompt - group.completed - here);
  const missing = isClosing ? 0 : Math.max(0, responsesPerPrompt - places.length);
  const indices: number[] = [];
  for (const [turn, request] of open.sort((a, b) => a.index - b.index).entries()) {
    const isOwed = turn < needed;
    if (isUnfinished(request)) {
      requests.drop(state, request, isOwed ? 'open' : 'gone', { code: isOwed ? 'host_restarted' : 'closed' }, ctx);
    } else if (isOwed) indices.push(request.index);
    else requests.end(state, request, 'gone', ctx);
  }
  const known = new Set(places.map((one) => one.index));
  for (let index = 0; known.size < places.length + missing; index += 1) {
    if (known.has(index)) continue;
    known.add(index);
    indices.push(index);
  }
  return indices.sort((a, b) => a - b);
}

/** Whether the id of a request has the new prefix, and not an earlier prefix that begins with the new one. */
function cameSince({ prefix, oldPrefixes }: FrontierState, { requestId }: Request): boolean {
  if (prefix === '' || !requestId.startsWith(prefix)) return false;
  return !oldPrefixes.some((old) => old.length > prefix.length && requestId.startsWith(old));
}

function ask({ promptId, roundId, ref }: Group, index: number, ctx: Ctx): void {
  ctx.emit({
    type: 'request.awaited',
    at: ctx.at,
    promptId,
    roundId,
    index,
    ...given({ ref }),
    reason: { code: 'host_restarted' },
  });
}

/** Holds requests until their group leaves, or until a decision drops them. */
const requestLedger: HeldLedger<SavedFrontier, FrontierGroupDispatchConfig> = {
  name: 'requests',
  held: ({ groups }) => groups.flatMap(({ places }) => places.filter((one) => one.isHeld).map((one) => one.requestId)),
  // The policy mints no ids. But one request lets the policy wait for a whole group, and after a restart it names each response
  // of the group.
  mints: ({ responsesPerPrompt }) => responsesPerPrompt,
};

/** Holds waiting requests: each leaves once, admitted or dropped. */
const waitingLedger: Ledger<SavedFrontier, Message, FrontierGroupDispatchDecision> = {
  name: 'waiting',
  entered: (event) => (event.type === 'request.arrived' || event.type === 'request.launch' ? [event.requestId] : []),
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
    decisions: [
      requestAdmit,
      requestDeferred,
      requestDropped,
      requestAwaited,
      groupLeft,
      responseLate,
      frontierResized,
      frontierStarved,
    ],
    ledgers: [requestLedger, waitingLedger],
    waits,
    gates,
  });
