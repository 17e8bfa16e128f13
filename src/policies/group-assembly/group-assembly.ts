/**
 * Group assembly (RollPacker §4.3, §4.4): rewards come one by one, groups train whole. A prompt that counts becomes a
 * group as soon as each of its responses has its reward, and a round is ready when all its groups are. See README.md.
 */
import { definePolicy, type Ledger } from '../../core/definition.ts';
import { copyFinal, type FinalPrompt, type FinalResponse, type RewardedResponse } from '../../schemas/prompts.ts';
import { arbitrary } from './arbitrary.ts';
import { check } from './check.ts';
import { assemblyConfig } from './schema.ts';
import {
  type AssemblyState,
  addMember,
  assemblySnapshot,
  type Group,
  load,
  moveMember,
  newGroup,
  newRound,
  newState,
  type Round,
  type SavedAssembly,
  save,
} from './state.ts';
import {
  type AssemblyDecision,
  type AssemblyEvent,
  assemblyDecisions,
  assemblyEvents,
  type Ctx,
  type EventNamed,
} from './words.ts';

function apply(state: AssemblyState, event: AssemblyEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'response.accepted':
      if (state.byRequest.has(event.requestId)) return;
      addMember(state, openGroup(state, event.promptId), event.requestId, undefined);
      return;
    case 'prompt.counted':
      return countPrompt(state, event, ctx);
    case 'prompt.merged':
      for (const { requestId } of event.dropped) forgetOpen(state, requestId);
      return;
    case 'prompt.deferred':
    case 'prompt.returned':
      return leave(state, event.prompt.promptId);
    case 'prompt.filtered':
    case 'prompt.quarantined':
      return leave(state, event.promptId);
    case 'round.completed':
      return completeRound(state, event, ctx);
    case 'reward.ready':
      return reward(state, event.requestId, event.reward, ctx);
    case 'reward.failed':
      return reward(state, event.requestId, null, ctx);
    case 'host.restarted':
    // Rewards that were being computed are computed again; what is known stays.
  }
}

function openGroup(state: AssemblyState, promptId: string): Group {
  const known = state.open.get(promptId);
  if (known !== undefined) return known;
  const group = newGroup(promptId);
  state.open.set(promptId, group);
  return group;
}

function forget(state: AssemblyState, group: Group): void {
  for (const requestId of group.members.keys()) state.byRequest.delete(requestId);
}

/** A prompt that does not count leaves, with what is known of its rewards. */
function leave(state: AssemblyState, promptId: string): void {
  const group = state.open.get(promptId);
  if (group === undefined) return;
  forget(state, group);
  state.open.delete(promptId);
}

function forgetOpen(state: AssemblyState, requestId: string): void {
  const member = state.byRequest.get(requestId);
  if (member === undefined || member.owner.round !== null) return;
  const { owner } = member;
  owner.members.delete(requestId);
  state.byRequest.delete(requestId);
  if (member.reward === undefined) owner.waiting -= 1;
  if (owner.members.size === 0) state.open.delete(owner.promptId);
}

function roundOf(state: AssemblyState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const round = newRound(roundId);
  state.rounds.set(roundId, round);
  return round;
}

function countPrompt(state: AssemblyState, event: EventNamed<'prompt.counted'>, ctx: Ctx): void {
  const { promptId, roundId, responses } = event;
  const round = roundOf(state, roundId);
  const open = state.open.get(promptId);
  state.open.delete(promptId);
  const group = newGroup(promptId);
  group.round = round;
  group.since = ctx.at;
  for (const { requestId, tokens, reward: known } of responses) {
    const before = open?.members.get(requestId);
    if (before !== undefined) {
      moveMember(group, before, known).tokens = tokens;
      open?.members.delete(requestId);
      continue;
    }
    addMember(state, group, requestId, known).tokens = tokens;
    // Nobody has been asked for the reward of a response that was kept from an earlier round.
    if (known !== undefined) continue;
    ctx.emit({ type: 'reward.request', at: ctx.at, requestId, promptId, reason: { code: 'kept_without_reward' } });
  }
  // What the prompt had beside the responses that count is of no use.
  if (open !== undefined) forget(state, open);
  round.groups.set(promptId, group);
  round.waiting += 1;
  if (group.waiting === 0) completeGroup(state, group, round, ctx);
}

function reward(state: AssemblyState, requestId: string, value: number | null, ctx: Ctx): void {
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
  for (const { requestId, tokens, reward: value } of group.members.values()) {
    if (typeof value !== 'number') continue;
    responses.push({ requestId, tokens, reward: value });
    sum += tokens;
  }
  return { responses, tokens: sum };
}

function completeGroup(state: AssemblyState, group: Group, round: Round, ctx: Ctx): void {
  const { promptId, members, since } = group;
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

function completeRound(state: AssemblyState, event: EventNamed<'round.completed'>, ctx: Ctx): void {
  const round = roundOf(state, event.roundId);
  const { kind, weightVersion } = event;
  const isFailed = event.reason.code === 'round_failed';
  round.completed = { kind, weightVersion, prompts: event.prompts.map(copyFinal), isFailed, at: ctx.at };
  if (isFailed) {
    for (const group of round.groups.values()) {
      const { promptId } = group;
      ctx.emit({
        type: 'group.withdrawn',
        at: ctx.at,
        roundId: round.roundId,
        promptId,
        reason: { code: 'round_failed' },
      });
      forget(state, group);
    }
    round.groups.clear();
    round.waiting = 0;
  }
  finish(state, round, ctx);
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

const key = (roundId: string, promptId: string): string => `${roundId}\n${promptId}`;

/** Prompts that count enter, and leave with their round, without a reward, or withdrawn. */
const groupLedger: Ledger<SavedAssembly, AssemblyEvent, AssemblyDecision> = {
  name: 'groups',
  entered: (event) => (event.type === 'prompt.counted' ? [key(event.roundId, event.promptId)] : []),
  left: (decision) => {
    switch (decision.type) {
      case 'round.rewarded':
        return decision.prompts.map(({ promptId }) => key(decision.roundId, promptId));
      case 'group.unrewarded':
      case 'group.withdrawn':
        return [key(decision.roundId, decision.promptId)];
      default:
        return [];
    }
  },
  held: ({ groups }) => groups.flatMap(({ roundId, promptId }) => (roundId === null ? [] : [key(roundId, promptId)])),
};

/** Makes whole groups of rewards that come one by one. */
export const groupAssembly = definePolicy({
  id: 'group-assembly',
  version: 1,
  summary: 'Makes whole groups, and ready rounds, of rewards that come one by one.',
  source: 'RollPacker §4.3, §4.4',
  config: assemblyConfig,
  events: assemblyEvents,
  decisions: assemblyDecisions,
  state: assemblySnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  ledgers: [groupLedger],
  arbitrary,
});
