/** Handles groups: rewards fill them until they are complete. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { RewardedResponse } from '../../schemas/prompts.ts';
import type { Ctx } from './messages.ts';
import { finishIfReady, roundOf } from './rounds.ts';
import {
  type AssemblyState,
  addMember,
  allGroups,
  describe,
  forget,
  type Group,
  moveMember,
  newGroup,
  type Round,
} from './state.ts';

export function accept(state: AssemblyState, { requestId, promptId, domain }: Message<'response.accepted'>): void {
  if (state.byRequest.has(requestId)) return;
  const open = state.open.get(promptId) ?? newGroup(promptId, domain);
  state.open.set(promptId, open);
  addMember(state, open, requestId, undefined);
}

/**
 * Forgets exactly the listed responses. The prompt may have been drawn again while it was still in an earlier round; then its
 * other responses belong to the other copy.
 */
export function forgetNamed(state: AssemblyState, named: readonly { readonly requestId: string }[] = []): void {
  for (const { requestId } of named) forgetOpen(state, requestId);
}

function forgetOpen(state: AssemblyState, requestId: string): void {
  const member = state.byRequest.get(requestId);
  if (member === undefined || member.owner.round !== null) return;
  const { owner } = member;
  owner.members.delete(requestId);
  state.byRequest.delete(requestId);
  if (owner.members.size === 0) state.open.delete(owner.promptId);
}

export function checkCounted(state: AssemblyState, { roundId, promptId, responses }: Message<'prompt.counted'>): void {
  const round = state.rounds.get(roundId);
  if (round?.groups.has(promptId) || round?.unrewarded.has(promptId)) {
    refuse('duplicate_id', 'promptId', 'a prompt that does not count yet', promptId);
  }
  if (round !== undefined && round.completed !== null) {
    refuse('out_of_order', 'roundId', 'a round that is not complete', roundId);
  }
  if (responses.length === 0) refuse('invalid_event', 'responses', 'at least one response', []);
  const seen = new Set<string>();
  responses.forEach(({ requestId }, index) => {
    const owner = state.byRequest.get(requestId)?.owner;
    const isOthers = owner !== undefined && (owner.round !== null || owner.promptId !== promptId);
    if (isOthers || seen.has(requestId)) {
      const path = `responses[${index}].requestId`;
      refuse('duplicate_id', path, 'a response of this prompt, once', requestId);
    }
    seen.add(requestId);
  });
}

export function countPrompt(state: AssemblyState, event: Message<'prompt.counted'>, ctx: Ctx): void {
  const { promptId, roundId, domain, promptTokens, responses } = event;
  const round = roundOf(state, roundId);
  const open = state.open.get(promptId);
  const group = newGroup(promptId, domain);
  group.round = round;
  group.since = ctx.at;
  group.promptTokens = promptTokens;
  for (const { requestId, tokens, weightVersions, reward: known } of responses) {
    const before = open?.members.get(requestId);
    if (before !== undefined) {
      describe(moveMember(group, before, known), tokens, weightVersions);
      continue;
    }
    describe(addMember(state, group, requestId, known), tokens, weightVersions);
    // The reward of a response that was kept from an earlier round has not been requested yet.
    if (known !== undefined) continue;
    askReward(requestId, group, 'kept_without_reward', ctx);
  }
  // Members that remain belong to another copy of the prompt.
  if (open?.members.size === 0) state.open.delete(promptId);
  round.groups.set(promptId, group);
  round.waiting += 1;
  if (group.waiting === 0) completeGroup(state, group, round, ctx);
}

function askReward(
  requestId: string,
  { promptId, domain }: Group,
  code: 'kept_without_reward' | 'host_restarted',
  ctx: Ctx,
): void {
  const named = domain === undefined ? { promptId } : { promptId, domain };
  ctx.emit({ type: 'reward.request', at: ctx.at, requestId, ...named, reason: { code } });
}

/** Asks again for unfinished rewards, which a restart of the host has lost. */
export function askAgain(state: AssemblyState, ctx: Ctx): void {
  for (const group of allGroups(state)) {
    for (const { requestId, reward: known } of group.members.values()) {
      if (known === undefined) askReward(requestId, group, 'host_restarted', ctx);
    }
  }
}

export function reward(state: AssemblyState, requestId: string, value: number | null, ctx: Ctx): void {
  const member = state.byRequest.get(requestId);
  if (member === undefined || member.reward !== undefined) {
    ctx.emit({ type: 'reward.unused', at: ctx.at, requestId, reason: { code: 'not_awaited' } });
    return;
  }
  const { owner } = member;
  member.reward = value;
  owner.waiting -= 1;
  if (owner.round !== null && owner.waiting === 0) completeGroup(state, owner, owner.round, ctx);
}

/** Returns the responses with rewards, and the sum of their tokens. */
function rewardedOf(group: Group): { responses: RewardedResponse[]; tokens: number } {
  const responses: RewardedResponse[] = [];
  let sum = 0;
  for (const { requestId, tokens, weightVersions, reward: value } of group.members.values()) {
    if (typeof value !== 'number') continue;
    responses.push(
      weightVersions === undefined
        ? { requestId, tokens, reward: value }
        : { requestId, tokens, weightVersions: weightVersions.slice(), reward: value },
    );
    sum += tokens;
  }
  return { responses, tokens: sum };
}

function completeGroup(state: AssemblyState, group: Group, round: Round, ctx: Ctx): void {
  const { promptId, promptTokens, members, since } = group;
  const { roundId } = round;
  const { responses, tokens } = rewardedOf(group);
  round.waiting -= 1;
  if (responses.length === 0) {
    ctx.emit({
      type: 'group.unrewarded',
      at: ctx.at,
      roundId,
      promptId,
      reason: { code: 'no_reward', responses: members.size },
    });
    round.unrewarded.add(promptId);
    round.groups.delete(promptId);
    forget(state, group);
  } else {
    ctx.emit({
      type: 'group.rewarded',
      at: ctx.at,
      roundId,
      promptId,
      ...(promptTokens === undefined ? undefined : { promptTokens }),
      samples: responses.length,
      tokens,
      responses,
      reason: {
        code: 'all_rewarded',
        responses: members.size,
        missing: members.size - responses.length,
        waitedSeconds: ctx.at - since,
      },
    });
  }
  finishIfReady(state, round, ctx);
}
