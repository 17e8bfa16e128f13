/** Requests come, are admitted or deferred, and end. */
import { replacePrefix } from '../../core/prefix.ts';
import { advance, finish } from './clock.ts';
import { admission, admit, groupOf, leaveIfDone, refill } from './groups.ts';
import { measure } from './pace.ts';
import { planLate, planRound } from './resize.ts';
import { type FrontierState, type Group, newRequest, placeOf, type Request, type RequestStatus } from './state.ts';
import type { Ctx, EventNamed, ReasonOf } from './words.ts';

/** A request as it comes. */
interface Arrival {
  readonly requestId: string;
  readonly promptId: string;
  readonly roundId: string;
  readonly index: number;
  readonly order?: number | undefined;
  readonly ref?: string | undefined;
}

export function arrived(state: FrontierState, arrival: Arrival, ctx: Ctx): void {
  const { requestId, promptId, roundId, index, ref } = arrival;
  const group = groupOf(state, promptId, roundId, arrival.order);
  if (ref !== undefined) group.ref = ref;
  planRound(state, ctx);
  const place = placeOf(group, index);
  if (place >= 0) takePlace(state, group.places[place]!, ctx);
  const request = newRequest(requestId, group, index);
  if (place >= 0) group.places[place] = request;
  else group.places.push(request);
  group.unfinished += 1;
  state.requests.set(requestId, request);
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

/** Another request comes for the same response: what there was of it is given up. */
function takePlace(state: FrontierState, before: Request, ctx: Ctx): void {
  if (before.status === 'gone') before.group.gone -= 1;
  if (before.isHeld) drop(state, before, 'open', 'replaced', ctx);
}

/** An admitted or a waiting request is over, whatever it has come to. */
function end(state: FrontierState, request: Request, status: RequestStatus, ctx: Ctx): void {
  const { group } = request;
  if (request.status === 'admitted') {
    advance(state.pace.clock, ctx.at);
    finish(state.pace.clock, request.mark);
  }
  if (isUnfinished(request)) group.unfinished -= 1;
  request.status = status;
  if (status === 'completed') group.completed += 1;
  else if (status === 'gone') group.gone += 1;
}

const isUnfinished = ({ status }: Request): boolean => status === 'waiting' || status === 'admitted';

/** Gives a request up by name. */
function drop(
  state: FrontierState,
  request: Request,
  status: 'open' | 'gone',
  code: ReasonOf<'request.dropped'>['code'],
  ctx: Ctx,
): void {
  const { requestId, group, index } = request;
  const admitted = request.status !== 'waiting';
  end(state, request, status, ctx);
  request.isHeld = false;
  state.requests.delete(requestId);
  ctx.emit({
    type: 'request.dropped',
    at: ctx.at,
    requestId,
    promptId: group.promptId,
    roundId: group.round.roundId,
    index,
    admitted,
    reason: { code },
  });
}

/** The admitted request of that name; a report about any other is late. */
function admitted(state: FrontierState, requestId: string, tokens: number | undefined, ctx: Ctx): Request | undefined {
  const request = state.requests.get(requestId);
  if (request?.status === 'admitted') return request;
  const reason = tokens === undefined ? ({ code: 'report' } as const) : ({ code: 'completion', tokens } as const);
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason });
  return undefined;
}

export function completed(state: FrontierState, requestId: string, tokens: number, ctx: Ctx): void {
  const request = admitted(state, requestId, tokens, ctx);
  if (request === undefined) return;
  advance(state.pace.clock, ctx.at);
  measure(state.pace, request.mark, tokens);
  end(state, request, 'completed', ctx);
  request.tokens = tokens;
  settle(state, request.group, ctx);
}

export function failed(state: FrontierState, requestId: string, ctx: Ctx): void {
  const request = admitted(state, requestId, undefined, ctx);
  if (request === undefined) return;
  end(state, request, state.config.awaitRetries ? 'open' : 'gone', ctx);
  settle(state, request.group, ctx);
}

/** No further try of the response will come. */
export function abandoned(state: FrontierState, requestId: string, ctx: Ctx): void {
  const request = state.requests.get(requestId);
  if (request?.status !== 'open') giveUp(state, requestId, ctx);
  else {
    end(state, request, 'gone', ctx);
    settle(state, request.group, ctx);
  }
}

/** The host is told to abort: what runs goes on to its confirmation, what waits never comes to an engine. */
export function abort(state: FrontierState, requestId: string, ctx: Ctx): void {
  if (state.requests.get(requestId)?.status === 'waiting') giveUp(state, requestId, ctx);
}

/** A request has ended for good, without a response. */
export function giveUp(state: FrontierState, requestId: string, ctx: Ctx): void {
  const waiting = state.requests.get(requestId);
  const request = waiting?.status === 'waiting' ? waiting : admitted(state, requestId, undefined, ctx);
  if (request === undefined) return;
  if (request.status === 'waiting') drop(state, request, 'gone', 'aborted', ctx);
  else end(state, request, 'gone', ctx);
  settle(state, request.group, ctx);
}

/** Something of a group has ended. */
function settle(state: FrontierState, group: Group, ctx: Ctx): void {
  leaveIfDone(state, group, ctx);
  planLate(state, ctx);
  refill(state, ctx);
}

/** Nothing more of a group comes: what waits is dropped, and it leaves as soon as nothing of it runs, or at once. */
function close(state: FrontierState, group: Group, ctx: Ctx): void {
  for (const request of group.places) {
    if (request.status === 'waiting') drop(state, request, 'gone', 'closed', ctx);
    else if (request.status === 'admitted' && state.config.closeAtOnce) end(state, request, 'gone', ctx);
  }
  group.isClosing = true;
  leaveIfDone(state, group, ctx);
}

/** Of a prompt nothing more comes in this round: it has its responses, or is given up, or is put off. */
export function closed(state: FrontierState, promptId: string, ctx: Ctx): void {
  const group = state.groups.get(promptId);
  if (group === undefined) return;
  close(state, group, ctx);
  refill(state, ctx);
}

/** A prompt is put off. What is said of an earlier round is not of the group that is here now. */
export function deferred(
  state: FrontierState,
  { prompt, roundId, reason }: EventNamed<'prompt.deferred'>,
  ctx: Ctx,
): void {
  const group = state.groups.get(prompt.promptId);
  // One that was carried on too long is put off by the next round.
  if (group?.round.roundId === roundId || reason.code === 'stale_weights') closed(state, prompt.promptId, ctx);
}

/** A round is over. */
export function roundOver(state: FrontierState, roundId: string, ctx: Ctx): void {
  state.endedRounds.add(roundId);
  const groups = [...(state.rounds.get(roundId)?.groups ?? [])].sort((a, b) => a.seq - b.seq);
  for (const group of groups) close(state, group, ctx);
  refill(state, ctx);
}

/** All that was in flight or waited is gone, unless it came since; its groups keep their places for what comes again. */
export function hostRestarted(state: FrontierState, idPrefix: string, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  for (const group of state.groups.values()) {
    for (const request of group.places) {
      if (!isUnfinished(request) || request.requestId.startsWith(idPrefix)) continue;
      drop(state, request, 'open', 'host_restarted', ctx);
    }
  }
}
