/** Groups come into service, and leave: the frontier itself. */
import { advance, begin, type Mark, markNow } from './clock.ts';
import { beginRound, remember } from './pace.ts';
import { learn } from './resize.ts';
import { type FrontierState, type Group, newGroup, newRound, type Request, type Round } from './state.ts';
import type { Ctx, ReasonOf } from './words.ts';

/** The round of that name; a new one is served after those that are here. */
function roundOf(state: FrontierState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const before = state.newest;
  const round = newRound(roundId, state.roundSeq++);
  state.rounds.set(roundId, round);
  state.newest = round;
  beginRound(state.pace);
  if (before !== null) forgetRound(state, before);
  return round;
}

/** What is known of a round is of no more use once it has no groups and another has begun. */
function forgetRound(state: FrontierState, round: Round): void {
  if (round.groups.size === 0 && round !== state.newest) state.rounds.delete(round.roundId);
}

/** The group of a prompt, deferred if it is new. */
export function groupOf(state: FrontierState, promptId: string, roundId: string, order: number | undefined): Group {
  const known = state.groups.get(promptId);
  if (known !== undefined && known.round.roundId === roundId) return known;
  const round = roundOf(state, roundId);
  if (known !== undefined) {
    // A prompt that is carried into another round: it keeps its place in the frontier.
    moveGroup(state, known, round);
    return known;
  }
  const place = order ?? round.nextOrder;
  round.nextOrder = Math.max(round.nextOrder, place + 1);
  const group = newGroup(promptId, round, place, state.seq++);
  state.groups.set(promptId, group);
  round.groups.add(group);
  round.left.delete(promptId);
  if (round === state.newest) state.pace.round.groups += 1;
  state.deferred.update(group);
  return group;
}

function moveGroup(state: FrontierState, group: Group, round: Round): void {
  const { round: old } = group;
  old.groups.delete(group);
  const isDeferred = group.since === null;
  if (isDeferred) state.deferred.remove(group);
  group.round = round;
  group.isClosing = false;
  round.groups.add(group);
  if (isDeferred) state.deferred.update(group);
  forgetRound(state, old);
}

/** The mark of what is admitted at this event. */
export function admission({ pace: { clock } }: FrontierState, ctx: Ctx): Mark {
  advance(clock, ctx.at);
  return markNow(clock);
}

/** Lets a request into the engines: its group is in service. */
export function admit(
  state: FrontierState,
  request: Request,
  code: ReasonOf<'request.admit'>['code'],
  mark: Mark,
  ctx: Ctx,
): void {
  const { group, requestId, index } = request;
  const { promptId, round, order, ref } = group;
  request.status = 'admitted';
  request.mark = mark;
  begin(state.pace.clock, mark);
  ctx.emit({
    type: 'request.admit',
    at: ctx.at,
    requestId,
    promptId,
    roundId: round.roundId,
    index,
    ...(ref === undefined ? undefined : { ref }),
    reason: { code, order, inService: state.inService, width: state.width },
  });
}

/** Fills the free slots with the deferred groups of the lowest order. */
export function refill(state: FrontierState, ctx: Ctx): void {
  for (let group = state.deferred.peek(); group !== undefined; group = state.deferred.peek()) {
    if (state.inService >= state.width && !learn(state, ctx)) return;
    state.deferred.remove(group);
    group.since = ctx.at;
    state.inService += 1;
    const mark = admission(state, ctx);
    for (const request of group.places) {
      if (request.status === 'waiting') admit(state, request, 'group_admitted', mark, ctx);
    }
  }
}

/** A group leaves when nothing of it waits or runs, and nothing more is to come. */
export function leaveIfDone(state: FrontierState, group: Group, ctx: Ctx): void {
  const { promptId, round, places, completed, since } = group;
  const ended = completed + group.gone;
  const isWhole = ended >= state.config.responsesPerPrompt;
  if (group.unfinished > 0 || !(isWhole || group.isClosing)) return;
  const requests = places.filter((one) => one.isHeld).sort((a, b) => a.index - b.index);
  for (const { requestId } of requests) state.requests.delete(requestId);
  state.groups.delete(promptId);
  round.groups.delete(group);
  round.left.add(promptId);
  if (since === null) state.deferred.remove(group);
  else {
    state.inService -= 1;
    if (round === state.newest) {
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
      code: isWhole ? 'all_ended' : 'closed',
      completed,
      givenUp: group.gone,
      servedSeconds: since === null ? 0 : ctx.at - since,
    },
  });
  if (completed > 0) remember(state.pace, lengthsOf(requests));
  forgetRound(state, round);
}

const lengthsOf = (requests: readonly Request[]): number[] =>
  requests.flatMap((one) => (one.status === 'completed' ? [one.tokens] : []));
