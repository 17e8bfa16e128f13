/** Handles requests and their groups: requests arrive, are admitted or deferred, and end; groups come into service, and leave. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { groupKey } from '../../schemas/moves.ts';
import { advance, begin, finish, type Mark, markNow, measure, remember } from './pace.ts';
import {
  byOrder,
  type Ctx,
  endRound,
  type FrontierState,
  forgetIfOver,
  type Group,
  groupOf,
  indexOf,
  isRunning,
  isUnfinished,
  newRequest,
  type Request,
  type RequestStatus,
  update,
} from './state.ts';
import { learn, planLate, planRound } from './width.ts';

/** An event about a request. */
interface Named {
  readonly requestId: string;
}

/** A new request. */
interface Arrival extends Named {
  readonly promptId: string;
  readonly roundId: string;
  readonly index: number;
  readonly order?: number | undefined;
  readonly ref?: string | undefined;
}

/** Refuses a request that does not fit the state. */
export function checkArrival(state: FrontierState, { requestId, promptId, roundId, index }: Arrival): void {
  if (state.requests.has(requestId)) refuse('duplicate_id', 'requestId', 'a new request id', requestId);
  if (state.endedRounds.has(roundId)) refuse('out_of_order', 'roundId', 'a round that is not over', roundId);
  const known = state.groups.get(promptId);
  if (known !== undefined && known.roundId !== roundId && !known.isClosing) {
    refuse('duplicate_id', 'roundId', `a prompt that is in no other open round than ${known.roundId}`, roundId);
  }
  const group = known?.roundId === roundId ? known : undefined;
  if (group?.places[indexOf(group, index)]?.status === 'completed') {
    refuse('duplicate_id', 'index', `a response of ${promptId} that is not complete`, index);
  }
  if (group === undefined && state.left.has(groupKey(roundId, promptId))) {
    refuse('out_of_order', 'promptId', 'a group that has not left the frontier (or `awaitRetries`)', promptId);
  }
}

export function arrived(state: FrontierState, arrival: Arrival, ctx: Ctx): void {
  const { requestId, promptId, roundId, index, ref } = arrival;
  const before = state.groups.get(promptId);
  // The group in the earlier round is closing: otherwise the check would have refused the request.
  if (before !== undefined && before.roundId !== roundId) close(state, before, true, ctx);
  const group = groupOf(state, promptId, roundId, arrival.order);
  if (ref !== undefined) group.ref = ref;
  planRound(state, ctx);
  const known = indexOf(group, index);
  if (known >= 0) replaceRequest(state, group.places[known]!, ctx);
  const request = newRequest(requestId, group, index);
  if (known >= 0) group.places[known] = request;
  else group.places.push(request);
  group.unfinished += 1;
  state.requests.set(requestId, request);
  update(state, group);
  if (group.since !== null) {
    admit(state, request, 'in_frontier', admission(state, ctx), ctx);
    return;
  }
  refill(state, ctx);
  if (request.status === 'waiting') {
    const reason = {
      code: 'frontier_full',
      order: group.order,
      inService: state.inService,
      width: state.width,
    } as const;
    ctx.emit({ type: 'request.deferred', at: ctx.at, requestId, promptId, roundId, reason });
  }
}

/** Gives up a request that is replaced by a new request for the same response. */
function replaceRequest(state: FrontierState, before: Request, ctx: Ctx): void {
  if (before.status === 'gone') before.group.gone -= 1;
  if (before.isHeld) drop(state, before, 'open', { code: 'replaced', ended: !isUnfinished(before) }, ctx);
}

/** Ends an admitted or a waiting request, with or without a response. */
export function end(state: FrontierState, request: Request, status: RequestStatus, ctx: Ctx): void {
  const { group } = request;
  if (isRunning(request)) {
    advance(state.pace.clock, ctx.at);
    finish(state.pace.clock, request.mark);
  }
  if (isUnfinished(request)) group.unfinished -= 1;
  request.status = status;
  if (status === 'completed') group.completed += 1;
  else if (status === 'gone') group.gone += 1;
}

/** Gives a request up, and names it in a decision. */
export function drop(
  state: FrontierState,
  request: Request,
  status: 'open' | 'gone',
  reason: Message<'request.dropped'>['reason'],
  ctx: Ctx,
): void {
  const { requestId, group, index } = request;
  const admitted = isRunning(request);
  end(state, request, status, ctx);
  request.isHeld = false;
  state.requests.delete(requestId);
  ctx.emit({
    type: 'request.dropped',
    at: ctx.at,
    requestId,
    promptId: group.promptId,
    roundId: group.roundId,
    index,
    admitted,
    reason,
  });
}

/** Returns the request with this id if it is running; a report about any other request is late. */
function admitted(state: FrontierState, requestId: string, tokens: number | undefined, ctx: Ctx): Request | undefined {
  const request = state.requests.get(requestId);
  if (request !== undefined && isRunning(request)) return request;
  const reason = tokens === undefined ? ({ code: 'report' } as const) : ({ code: 'completion', tokens } as const);
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason });
  return undefined;
}

export function completed(state: FrontierState, { requestId, tokens }: Message<'response.completed'>, ctx: Ctx): void {
  const request = admitted(state, requestId, tokens, ctx);
  if (request === undefined) return;
  advance(state.pace.clock, ctx.at);
  measure(state.pace, request.mark, tokens);
  end(state, request, 'completed', ctx);
  request.tokens = tokens;
  settle(state, request.group, ctx);
}

export function failed(state: FrontierState, { requestId }: Named, ctx: Ctx): void {
  if (endWaiting(state, requestId, ctx)) return;
  const request = admitted(state, requestId, undefined, ctx);
  if (request === undefined) return;
  // No retry comes for a request that was to be aborted.
  end(state, request, state.config.awaitRetries && request.status === 'admitted' ? 'open' : 'gone', ctx);
  settle(state, request.group, ctx);
}

/** Handles a response that is dropped after or with its completion: another try may come for it. */
export function dropped(state: FrontierState, { requestId }: Named, ctx: Ctx): void {
  if (endWaiting(state, requestId, ctx)) return;
  const request = state.requests.get(requestId);
  if (request === undefined || (request.status !== 'completed' && !isRunning(request))) return;
  const { group } = request;
  if (request.status === 'completed') group.completed -= 1;
  end(state, request, state.config.awaitRetries ? 'open' : 'gone', ctx);
  settle(state, group, ctx);
}

/**
 * Ends a waiting request that an engine seems to have had: the request is not admitted any more, and another try may come for it.
 */
function endWaiting(state: FrontierState, requestId: string, ctx: Ctx): boolean {
  const request = state.requests.get(requestId);
  if (request?.status !== 'waiting') return false;
  drop(state, request, state.config.awaitRetries ? 'open' : 'gone', { code: 'aborted' }, ctx);
  settle(state, request.group, ctx);
  return true;
}

/** Handles a response for which no further try will come. */
export function abandoned(state: FrontierState, event: Named, ctx: Ctx): void {
  const request = state.requests.get(event.requestId);
  if (request?.status !== 'open') giveUp(state, event, ctx);
  else {
    end(state, request, 'gone', ctx);
    settle(state, request.group, ctx);
  }
}

/** Marks a request that the host has to abort: a running request waits for the confirmation; a waiting one is over. */
export function abort(state: FrontierState, { requestId }: Named, ctx: Ctx): void {
  const request = state.requests.get(requestId);
  if (request?.status === 'waiting') giveUp(state, request, ctx);
  else if (request?.status === 'admitted') request.status = 'aborting';
}

/** Ends a request for good, without a response. */
export function giveUp(state: FrontierState, { requestId }: Named, ctx: Ctx): void {
  const waiting = state.requests.get(requestId);
  const request = waiting?.status === 'waiting' ? waiting : admitted(state, requestId, undefined, ctx);
  if (request === undefined) return;
  if (request.status === 'waiting') drop(state, request, 'gone', { code: 'aborted' }, ctx);
  else end(state, request, 'gone', ctx);
  settle(state, request.group, ctx);
}

/** Settles the group of a request that has ended. */
function settle(state: FrontierState, group: Group, ctx: Ctx): void {
  leaveIfDone(state, group, ctx);
  planLate(state, ctx);
  refill(state, ctx);
}

/** Closes a group: its waiting requests are dropped, and the group leaves when none of its requests runs, or at once. */
function close(state: FrontierState, group: Group, atOnce: boolean, ctx: Ctx): void {
  for (const request of group.places) {
    if (request.status === 'waiting') drop(state, request, 'gone', { code: 'closed' }, ctx);
    else if (isRunning(request) && atOnce) end(state, request, 'gone', ctx);
  }
  group.isClosing = true;
  leaveIfDone(state, group, ctx);
}

/** Closes the group of a prompt that has its responses, is given up, or is deferred. */
export function closed(
  state: FrontierState,
  { promptId, roundId }: { readonly promptId: string; readonly roundId: string },
  ctx: Ctx,
): void {
  const group = state.groups.get(promptId);
  // An event of an earlier round must not close a group with the same id in this round.
  if (group?.roundId !== roundId) return;
  close(state, group, state.config.closeAtOnce, ctx);
  refill(state, ctx);
}

/** Handles a surplus response. If the response was only for comparison, nothing else of its prompt comes. */
export function surplus(state: FrontierState, { requestId, reason }: Message<'response.surplus'>, ctx: Ctx): void {
  const group = reason.code === 'control' ? state.requests.get(requestId)?.group : undefined;
  if (group === undefined) return;
  close(state, group, state.config.closeAtOnce, ctx);
  refill(state, ctx);
}

/**
 * Handles a deferred prompt. The prompt was deferred by its own round, or, as too old, by a later round into which it was
 * carried.
 */
export function deferred(
  state: FrontierState,
  { prompt: { promptId }, roundId, reason }: Message<'prompt.deferred'>,
  ctx: Ctx,
): void {
  const own = reason.code === 'stale_weights' ? state.groups.get(promptId)?.roundId : undefined;
  closed(state, { promptId, roundId: own ?? roundId }, ctx);
}

/** Ends a round, and closes its remaining groups. */
export function roundOver(state: FrontierState, { roundId }: { readonly roundId: string }, ctx: Ctx): void {
  const groups = [...(state.rounds.get(roundId)?.groups ?? [])].sort((a, b) => a.seq - b.seq);
  for (const group of groups) close(state, group, state.config.closeAtOnce, ctx);
  endRound(state, roundId);
  refill(state, ctx);
}

/** Returns the mark for requests that are admitted at this event. */
export function admission({ pace: { clock } }: FrontierState, ctx: Ctx): Mark {
  advance(clock, ctx.at);
  return markNow(clock);
}

/** Admits a request to the engines; its group is in service from then on. */
export function admit(
  state: FrontierState,
  request: Request,
  code: Message<'request.admit'>['reason']['code'],
  mark: Mark,
  ctx: Ctx,
): void {
  const { group, requestId, index } = request;
  const { promptId, roundId, order, ref } = group;
  request.status = 'admitted';
  request.mark = mark;
  begin(state.pace.clock, mark);
  ctx.emit({
    type: 'request.admit',
    at: ctx.at,
    requestId,
    promptId,
    roundId,
    index,
    ...(ref === undefined ? undefined : { ref }),
    reason: { code, order, inService: state.inService, width: state.width },
  });
}

/** Fills the free slots with the deferred groups of the lowest order. */
export function refill(state: FrontierState, ctx: Ctx): void {
  for (let group = state.deferred.peek(); group !== undefined; group = state.deferred.peek()) {
    if (state.inService >= state.width && !yieldSlot(state) && !learn(state, ctx)) return;
    group.since = ctx.at;
    state.inService += 1;
    update(state, group);
    const mark = admission(state, ctx);
    for (const request of group.places) {
      if (request.status === 'waiting') admit(state, request, 'group_admitted', mark, ctx);
    }
  }
}

/**
 * Frees the slots of groups that only wait for retries, last groups first, until another group has room: the retries may
 * themselves wait for this slot. Such a group waits for a slot again with its next request. Returns whether there is room.
 */
function yieldSlot(state: FrontierState): boolean {
  if (state.inService - state.idle.size >= state.width) return false;
  const last = [...state.idle].sort(byOrder);
  while (state.inService >= state.width) {
    const group = last.pop()!;
    group.since = null;
    state.inService -= 1;
    update(state, group);
  }
  return true;
}

/** Whether a group has all responses that it needs, or all that will ever come. */
export function isWhole(state: FrontierState, { completed, gone, unfinished, places }: Group): boolean {
  const { responsesPerPrompt: needed } = state.config;
  // An awaited retry may still bring the missing response.
  return completed >= needed || (completed + gone >= needed && places.length === completed + gone + unfinished);
}

/** Removes a group without waiting or running requests if no more requests will come. */
export function leaveIfDone(state: FrontierState, group: Group, ctx: Ctx): void {
  const { promptId, round, places, completed, since } = group;
  const whole = isWhole(state, group);
  if (group.unfinished > 0 || !(whole || group.isClosing)) return update(state, group);
  const requests = places.filter((one) => one.isHeld).sort((a, b) => a.index - b.index);
  for (const { requestId } of requests) state.requests.delete(requestId);
  state.groups.delete(promptId);
  round.groups.delete(group);
  if (!state.config.awaitRetries) state.left.add(groupKey(round.roundId, promptId));
  group.since = null;
  update(state, group);
  if (since !== null) {
    state.inService -= 1;
    if (round.roundId === state.newest) {
      state.pace.round.served += 1;
      state.pace.round.firstServedSeconds ??= since;
    }
  }
  ctx.emit({
    type: 'group.left',
    at: ctx.at,
    promptId,
    roundId: round.roundId,
    requestIds: requests.map((one) => one.requestId),
    reason: {
      code: whole ? 'all_ended' : 'closed',
      completed,
      givenUp: group.gone,
      servedSeconds: since === null ? 0 : ctx.at - since,
    },
  });
  if (completed > 0) remember(state.pace, lengthsOf(requests));
  forgetIfOver(state, round);
}

const lengthsOf = (requests: readonly Request[]): number[] =>
  requests.flatMap((one) => (one.status === 'completed' ? [one.tokens] : []));
