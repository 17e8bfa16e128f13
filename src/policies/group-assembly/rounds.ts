/** Completes rounds, gives them up, and hands them over once none of their groups waits. */
import { copyFinal } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { FinalPrompt, FinalResponse } from '../../schemas/prompts.ts';
import type { Ctx } from './messages.ts';
import { type AssemblyState, forget, type Group, type Round } from './state.ts';

/** Returns the round with this id; a round begins with the first event that names it. */
export function roundOf(state: AssemblyState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const round: Round = { roundId, groups: new Map(), unrewarded: new Set(), completed: null, waiting: 0 };
  state.rounds.set(roundId, round);
  return round;
}

export function checkCompleted(state: AssemblyState, { roundId, prompts, reason }: Message<'round.completed'>): void {
  const round = state.rounds.get(roundId);
  if (round !== undefined && round.completed !== null) {
    refuse('duplicate_id', 'roundId', 'a round that is not complete', roundId);
  }
  const named = new Set<string>();
  prompts.forEach(({ promptId }, index) => {
    const isKnown = round?.groups.has(promptId) || round?.unrewarded.has(promptId);
    if (isKnown && !named.has(promptId)) {
      named.add(promptId);
      return;
    }
    const path = `prompts[${index}].promptId`;
    refuse('unknown_id', path, 'a prompt that counts for the round, once', promptId);
  });
  const counts = (round?.groups.size ?? 0) + (round?.unrewarded.size ?? 0);
  if (reason.code !== 'round_failed' && named.size < counts) {
    refuse('invalid_event', 'prompts', `all ${counts} prompts that count for the round`, named.size);
  }
}

export function completeRound(state: AssemblyState, event: Message<'round.completed'>, ctx: Ctx): void {
  const round = roundOf(state, event.roundId);
  const { kind, weightVersion } = event;
  round.completed = { kind, weightVersion, prompts: event.prompts.map(copyFinal), at: ctx.at };
  if (event.reason.code === 'round_failed') giveUp(state, round, ctx);
  else finishIfReady(state, round, ctx);
}

/** Gives a round up, complete or not; for a complete round it emits `round.rewarded`. */
export function failRound(state: AssemblyState, { roundId }: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return;
  giveUp(state, round, ctx);
}

/** Withdraws the groups of a failed round, which are not trained. */
function giveUp(state: AssemblyState, round: Round, ctx: Ctx): void {
  const { roundId } = round;
  for (const group of round.groups.values()) {
    const { promptId } = group;
    ctx.emit({ type: 'group.withdrawn', at: ctx.at, roundId, promptId, reason: { code: 'round_failed' } });
    forget(state, group);
  }
  state.rounds.delete(roundId);
  if (round.completed === null) return;
  const { kind, weightVersion } = round.completed;
  const reason = { code: 'round_failed' } as const;
  ctx.emit({ type: 'round.rewarded', at: ctx.at, roundId, kind, weightVersion, prompts: [], reason });
}

/** Gives a response its reward, if there is a reward. */
function fillReward(response: FinalResponse, group: Group): boolean {
  const value = group.members.get(response.requestId)?.reward;
  if (typeof value !== 'number') return false;
  response.reward = value;
  return true;
}

/** Hands a complete round over once no group of the round waits. */
export function finishIfReady(state: AssemblyState, round: Round, ctx: Ctx): void {
  const { roundId, completed, groups } = round;
  if (completed === null || round.waiting > 0) return;
  const { kind, weightVersion, at } = completed;
  // The round gives away its own copies and is then forgotten, so the state shares nothing with the decision.
  const prompts: FinalPrompt[] = [];
  for (const prompt of completed.prompts) {
    const group = groups.get(prompt.promptId);
    if (group === undefined) continue;
    prompt.responses = prompt.responses.filter((one) => fillReward(one, group));
    prompts.push(prompt);
  }
  for (const group of groups.values()) forget(state, group);
  state.rounds.delete(roundId);
  const reason = { code: 'all_groups', groups: prompts.length, afterSeconds: ctx.at - at } as const;
  ctx.emit({ type: 'round.rewarded', at: ctx.at, roundId, kind, weightVersion, prompts, reason });
}

/** Names incomplete rounds with their counting prompts, because the host may have forgotten them. */
export function resumeRounds({ rounds }: AssemblyState, ctx: Ctx): void {
  for (const { roundId, groups, unrewarded, completed } of rounds.values()) {
    if (completed !== null) continue;
    const promptIds = [...groups.keys(), ...unrewarded];
    const reason = { code: 'host_restarted', prompts: promptIds.length } as const;
    ctx.emit({ type: 'round.resumed', at: ctx.at, roundId, promptIds, reason });
  }
}
