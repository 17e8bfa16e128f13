/** Completes responses, groups and rounds, and ends them if a round fails. */

import { given } from '../../../core/collections/given.ts';
import { copyDeferral, copyPrompt } from '../../../core/rollout/prompts.ts';
import type { Message } from '../../../schemas/messages.ts';
import type { CountedResponse, DroppedResponse, FinalPrompt } from '../../../schemas/prompts.ts';
import type { Ctx } from './messages.ts';
import { type CollectionState, completedOf, forgetRound, type Group, type Response, type Round } from './state.ts';

/** Holds a response for its group. A second report, or one of an unknown request, is ignored. */
export function complete(
  state: CollectionState,
  { requestId, tokens, weightVersions }: Message<'response.completed'>,
  ctx: Ctx,
): void {
  const response = state.responses.get(requestId);
  if (response === undefined || response.isCompleted) return;
  response.isCompleted = true;
  response.tokens = tokens;
  if (weightVersions !== undefined) response.weightVersions = weightVersions.slice();
  const { prompt } = response.group;
  ctx.emit({
    type: 'response.accepted',
    at: ctx.at,
    requestId,
    ...named(prompt),
    reason: { code: 'held', held: completedOf(response.group).length, needed: state.config.responsesPerPrompt },
  });
}

function named({ promptId, domain }: Group['prompt']): { promptId: string; domain?: string } {
  return domain === undefined ? { promptId } : { promptId, domain };
}

/** Ends a group that gets no more responses: its responses count, if the group has any. */
export function leave(state: CollectionState, { promptId, roundId, reason }: Message<'group.left'>, ctx: Ctx): void {
  const group = state.generating.get(promptId);
  // After the failure of its round, the group is not here any more.
  if (group === undefined || group.round.roundId !== roundId) return;
  const { round, prompt } = group;
  const responses = completedOf(group);
  state.generating.delete(promptId);
  round.generating -= 1;
  if (responses.length === 0) {
    group.status = 'over';
    const { givenUp } = reason;
    ctx.emit({ type: 'group.unrewarded', at: ctx.at, roundId, promptId, reason: { code: 'no_response', givenUp } });
  } else {
    group.status = 'counts';
    round.counted += 1;
    ctx.emit({
      type: 'prompt.counted',
      at: ctx.at,
      ...named(prompt),
      roundId,
      ...given({ promptTokens: prompt.promptTokens }),
      responses: responses.map(counted),
      reason: { code: 'no_filter', counted: round.counted, needed: round.groups.size },
    });
  }
  completeIfEnded(round, ctx);
}

/** Completes the rollout of a round once none of its groups is still being generated. */
export function completeIfEnded(round: Round, ctx: Ctx): void {
  if (round.generating > 0) return;
  const { roundId, kind, weightVersion, openedSeconds, groups } = round;
  const prompts = [...groups.values()].flatMap((group) => finalPrompt(group, weightVersion));
  ctx.emit({
    type: 'round.completed',
    at: ctx.at,
    roundId,
    kind,
    weightVersion,
    prompts,
    openedSeconds,
    deferred: 0,
    reason: { code: 'all_ended', counted: prompts.length, needed: groups.size },
  });
}

function finalPrompt(group: Group, ofRound: number): FinalPrompt[] {
  const responses = completedOf(group).map(({ requestId, index, tokens, weightVersions = [ofRound] }) => {
    return { requestId, index, tokens, weightVersions: weightVersions.slice() };
  });
  if (responses.length === 0) return [];
  const { promptId, ref, domain, deferral } = group.prompt;
  return [
    {
      promptId,
      ...given({ ref, domain }),
      ...(deferral === undefined ? undefined : { deferral: copyDeferral(deferral) }),
      responses,
    },
  ];
}

/** Hands back the prompts of a failed round, except those whose groups the trainer has. */
export function failRound(state: CollectionState, { roundId }: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return;
  for (const group of round.groups.values()) {
    const { promptId } = group.prompt;
    for (const { requestId, isCompleted } of group.responses.values()) {
      if (isCompleted) continue;
      ctx.emit({ type: 'request.abort', at: ctx.at, requestId, promptId, reason: { code: 'round_failed' } });
    }
    if (group.status === 'over') continue;
    const dropped = droppedResponses(group);
    const prompt = copyPrompt(group.prompt);
    ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped, reason: { code: 'round_failed' } });
  }
  forgetRound(state, round);
}

/**
 * Asks again for requests and rewards that were on their way, because the host has lost them. The frontier asks for the requests
 * of the groups that it knows; a group without any request is known only here.
 */
export function askAgain(state: CollectionState, _event: Message<'host.restarted'>, ctx: Ctx): void {
  const reason = { code: 'host_restarted' } as const;
  for (const { status, round, prompt } of state.generating.values()) {
    if (status !== 'opened') continue;
    const { promptId, ref } = prompt;
    for (let index = 0; index < state.config.responsesPerPrompt; index += 1) {
      const awaited = { promptId, roundId: round.roundId, index, ...given({ ref }) };
      ctx.emit({ type: 'request.awaited', at: ctx.at, ...awaited, reason });
    }
  }
  for (const { requestId, group, isCompleted, isRewarded } of state.responses.values()) {
    if (!isCompleted || isRewarded) continue;
    ctx.emit({ type: 'reward.request', at: ctx.at, requestId, ...named(group.prompt), reason });
  }
}

function counted({ requestId: id, tokens: own, weightVersions }: Response): CountedResponse {
  const one = { requestId: id, tokens: own };
  return weightVersions === undefined ? one : { ...one, weightVersions: weightVersions.slice() };
}

function droppedResponses(group: Group): DroppedResponse[] {
  return completedOf(group).map((one) => ({ requestId: one.requestId, tokens: one.tokens, cause: 'round_failed' }));
}
