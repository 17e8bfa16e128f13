/** Groups and rounds: how rewards fill them, and when they are handed over. */
import { copyFinal, type FinalPrompt, type FinalResponse, type RewardedResponse } from '../../schemas/prompts.ts';
import {
  type AssemblyState,
  addMember,
  allGroups,
  describe,
  type Group,
  moveMember,
  newGroup,
  newRound,
  type Round,
} from './state.ts';
import type { Ctx, EventNamed } from './words.ts';

export function openGroup(state: AssemblyState, promptId: string, domain: string | undefined): Group {
  const known = state.open.get(promptId);
  if (known !== undefined) return known;
  const group = newGroup(promptId, domain);
  state.open.set(promptId, group);
  return group;
}

function forget(state: AssemblyState, group: Group): void {
  for (const requestId of group.members.keys()) state.byRequest.delete(requestId);
}

/**
 * What leaves is forgotten by its name. The prompt may have been drawn again before an earlier round has let go of it, and
 * then the rest is of that other copy.
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

function roundOf(state: AssemblyState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const round = newRound(roundId);
  state.rounds.set(roundId, round);
  return round;
}

export function countPrompt(state: AssemblyState, event: EventNamed<'prompt.counted'>, ctx: Ctx): void {
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
    // Nobody has been asked for the reward of a response that was kept from an earlier round.
    if (known !== undefined) continue;
    askReward(requestId, group, 'kept_without_reward', ctx);
  }
  // The rest is of another copy of the prompt.
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

/** Rewards that were being computed are gone with the host. */
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

/** The responses that have a reward, and their tokens. */
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
  finish(state, round, ctx);
}

export function completeRound(state: AssemblyState, event: EventNamed<'round.completed'>, ctx: Ctx): void {
  const round = roundOf(state, event.roundId);
  const { kind, weightVersion } = event;
  const isFailed = event.reason.code === 'round_failed';
  round.completed = { kind, weightVersion, prompts: event.prompts.map(copyFinal), isFailed, at: ctx.at };
  if (isFailed) withdraw(state, round, ctx);
  finish(state, round, ctx);
}

/** A round is given up, whether it was complete or not: one that was says so. */
export function failRound(state: AssemblyState, roundId: string, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return;
  withdraw(state, round, ctx);
  if (round.completed === null) state.rounds.delete(roundId);
  else {
    round.completed = { ...round.completed, isFailed: true };
    finish(state, round, ctx);
  }
}

/** What counted for a round that has failed does not train. */
function withdraw(state: AssemblyState, round: Round, ctx: Ctx): void {
  const { roundId } = round;
  for (const group of round.groups.values()) {
    const { promptId } = group;
    ctx.emit({ type: 'group.withdrawn', at: ctx.at, roundId, promptId, reason: { code: 'round_failed' } });
    forget(state, group);
  }
  round.groups.clear();
  round.waiting = 0;
}

/** Gives a response its reward, if there is one. */
function fillReward(response: FinalResponse, group: Group): boolean {
  const value = group.members.get(response.requestId)?.reward;
  if (typeof value !== 'number') return false;
  response.reward = value;
  return true;
}

/** Hands a round over once it is complete and none of its groups waits. */
function finish(state: AssemblyState, round: Round, ctx: Ctx): void {
  const { completed, groups } = round;
  if (completed === null || round.waiting > 0) return;
  const { kind, weightVersion, isFailed, at } = completed;
  const { roundId } = round;
  // The copies that the round has kept go with it: nothing of the state is shared.
  const prompts: FinalPrompt[] = [];
  for (const prompt of completed.prompts) {
    const group = groups.get(prompt.promptId);
    if (group === undefined) continue;
    prompt.responses = prompt.responses.filter((one) => fillReward(one, group));
    prompts.push(prompt);
  }
  for (const group of groups.values()) forget(state, group);
  state.rounds.delete(roundId);
  ctx.emit({
    type: 'round.rewarded',
    at: ctx.at,
    roundId,
    kind,
    weightVersion,
    prompts,
    reason: isFailed
      ? { code: 'round_failed' }
      : { code: 'all_groups', groups: prompts.length, afterSeconds: ctx.at - at },
  });
}
