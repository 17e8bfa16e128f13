/** The frontier itself: groups come into service, and leave. */
import { mostRecent } from '../../core/ids/recent-ids.ts';
import type { Message } from '../../schemas/messages.ts';
import { groupKey } from '../../schemas/prompts.ts';
import { advance, begin, type Mark, markNow } from './clock.ts';
import type { Ctx } from './messages.ts';
import { beginRound, remember } from './pace.ts';
import { learn } from './resize.ts';
import {
  byOrder,
  type FrontierState,
  type Group,
  newGroup,
  newRound,
  type Request,
  type Round,
  update,
} from './state.ts';

/** Returns the round with this id; a new round is served after all rounds that are present. */
function roundOf(state: FrontierState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const before = state.newest === null ? undefined : state.rounds.get(state.newest);
  const round = newRound(roundId, state.roundSeq++);
  state.rounds.set(roundId, round);
  state.newest = roundId;
  beginRound(state.pace);
  if (before !== undefined) forgetIfOver(state, before);
  return round;
}

/**
 * Forgets a round without groups if it has ended and another round has begun. Otherwise the round keeps its place, because more of
 * its requests may come. Hosts need not report the end of a round, so the number of rounds without groups is limited.
 */
function forgetIfOver(state: FrontierState, round: Round): void {
  if (round.groups.size > 0) return;
  if (round.roundId !== state.newest && state.endedRounds.has(round.roundId)) return forget(state, round);
  state.empty.update(round);
  if (state.empty.size > mostRecent) forget(state, state.empty.peek()!);
}

function forget(state: FrontierState, round: Round): void {
  state.empty.remove(round);
  state.rounds.delete(round.roundId);
}

/** Ends a round: it takes no more requests. */
export function endRound(state: FrontierState, roundId: string): void {
  state.endedRounds.add(roundId);
  const round = state.rounds.get(roundId);
  if (round !== undefined) forgetIfOver(state, round);
}

/** Returns the group of a prompt, or a new one. */
export function groupOf(state: FrontierState, promptId: string, roundId: string, order: number | undefined): Group {
  const known = state.groups.get(promptId);
  if (known !== undefined) return known;
  const round = roundOf(state, roundId);
  const groupOrder = order ?? round.nextOrder;
  round.nextOrder = Math.max(round.nextOrder, groupOrder + 1);
  const group = newGroup(promptId, round, groupOrder, state.seq++);
  state.groups.set(promptId, group);
  round.groups.add(group);
  state.empty.remove(round);
  if (round.roundId === state.newest) state.pace.round.groups += 1;
  return group;
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
