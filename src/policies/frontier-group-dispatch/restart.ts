/**
 * Handles a restart of the host: requests in flight are over, complete groups leave, and the responses still needed are named
 * again.
 */
import { given } from '../../core/collections/given.ts';
import { replacePrefix } from '../../core/ids/minted-ids.ts';
import type { Message } from '../../schemas/messages.ts';
import { leaveIfDone, refill } from './groups.ts';
import type { Ctx } from './messages.ts';
import { drop, end } from './requests.ts';
import { type FrontierState, type Group, isUnfinished, type Request } from './state.ts';

/**
 * Drops all requests that were in flight or waiting, except those that came since the restart. Their groups keep their slots for
 * the responses still needed.
 */
export function restart(state: FrontierState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  const owed = [...state.groups.values()].map((group) => ({ group, indices: loseRequests(state, group, ctx) }));
  for (const { group, indices } of owed) {
    leaveIfDone(state, group, ctx);
    for (const index of indices) ask(group, index, ctx);
  }
  refill(state, ctx);
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
    if (request.status === 'aborting') drop(state, request, 'gone', { code: 'aborted' }, ctx);
  }
  const open = places.filter((one) => one.status === 'open' || (lost.has(one) && isUnfinished(one)));
  const here = places.filter((one) => isUnfinished(one) && !lost.has(one)).length;
  const needed = isClosing ? 0 : Math.max(0, responsesPerPrompt - group.completed - here);
  const missing = isClosing ? 0 : Math.max(0, responsesPerPrompt - places.length);
  const indices: number[] = [];
  for (const [turn, request] of open.sort((a, b) => a.index - b.index).entries()) {
    const isOwed = turn < needed;
    if (isUnfinished(request)) {
      drop(state, request, isOwed ? 'open' : 'gone', { code: isOwed ? 'host_restarted' : 'closed' }, ctx);
    } else if (isOwed) indices.push(request.index);
    else end(state, request, 'gone', ctx);
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
