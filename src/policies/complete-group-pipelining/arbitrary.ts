/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { CompleteGroupPipeliningEvent } from '../../generated/settings/complete-group-pipelining.ts';
import type { Message } from '../../schemas/messages.ts';
import { currentUpdate, type PipeliningState, publicationIds, type Round, type Update, updateIds } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: PipeliningState, choices: Choices): CompleteGroupPipeliningEvent {
  const { head, nextUpdate } = state;
  const over = state.recentRounds.size;
  const at = choices.below(5) === 0 ? choices.below(200) : choices.below(5) + nextUpdate + 10 * over;
  const rounds = [...state.rounds.values()];
  if (head === null || (rounds.length < 3 && choices.below(25) === 0)) {
    const roundId = `r${over + rounds.length - (choices.below(9) === 0 ? 1 : 0)}`;
    const weightVersion = Math.max(0, state.weightVersion + 1 - choices.below(4));
    return { type: 'round.opened', at, roundId, kind: 'long', weightVersion, prompts: [] };
  }
  const round = choices.below(5) === 0 ? pick(rounds, choices)! : head;
  const roundId = choices.below(20) === 0 ? `r${choices.below(over + 2)}` : round.roundId;
  if (choices.below(9) === 0) return rareEvent(state, head, roundId, choices, at);
  if (head.publicationId !== null && choices.below(3) === 0) return publishedEvent(state, head, round, choices, at);
  const current = currentUpdate(head);
  if (current !== undefined && choices.below(2) === 0) return trainerEvent(state, head, current, choices, at);
  const isFull = round.known.size > 2 * state.groupsPerUpdate + 1;
  if (choices.below(isFull ? 2 : 20) === 0) return rewardedRound(round, roundId, choices, at);
  return rewardedGroup(state, round, roundId, choices, at);
}

function trainerEvent(
  state: PipeliningState,
  head: Round,
  current: Update,
  choices: Choices,
  at: number,
): CompleteGroupPipeliningEvent {
  const isOther = choices.below(12) === 0;
  const withdrawn = isOther ? pick([...state.withdrawnSteps], choices) : undefined;
  if (withdrawn !== undefined) return { type: 'optimizer.stepped', at, roundId: head.roundId, updateId: withdrawn };
  const updateId = isOther ? updateIds.of(state, choices.below(state.nextUpdate + 1)) : current.updateId;
  if (head.isStepping === choices.below(12) > 0)
    return { type: 'optimizer.stepped', at, roundId: head.roundId, updateId };
  const left = current.groups.map((one) => one.groupId).filter((id) => !current.consumed?.has(id));
  const all = left.length === 0 ? current.groups.map((one) => one.groupId) : left;
  const groups = choices.below(3) === 0 ? all.slice(0, 1 + choices.below(all.length)) : all;
  return { type: 'update.consumed', at, updateId, groups, seconds: choices.below(5) };
}

/** Picks a publication; sometimes an earlier one, or one that no decision has named. */
function publishedEvent(
  state: PipeliningState,
  head: Round,
  { roundId, weightVersion: version }: Round,
  choices: Choices,
  at: number,
): Message<'weights.published'> {
  const other = publicationIds.of(state, choices.below(state.nextPublication + 1));
  const publicationId = choices.below(6) === 0 ? other : (head.publicationId ?? other);
  return { type: 'weights.published', at, roundId, publicationId, weightVersion: version + choices.below(6) };
}

function rewardedGroup(
  state: PipeliningState,
  round: Round,
  roundId: string,
  choices: Choices,
  at: number,
): Message<'group.rewarded'> {
  const promptId = `p${choices.below(6) === 0 ? choices.below(12) : round.known.size}`;
  const needed = state.config.responsesPerPrompt;
  const n = choices.below(10) > 0 ? needed : 1 + choices.below(needed + 1);
  const isOther = choices.below(12) === 0;
  const isEqual = choices.below(5) === 0;
  const responses = Array.from({ length: n }, (_, index) => ({
    requestId: `${promptId}/${index}#0`,
    tokens: choices.below(60),
    ...(isOther ? { weightVersions: [Math.max(0, round.weightVersion - 1), round.weightVersion] } : undefined),
    reward: isEqual ? 1 : choices.below(2),
  }));
  const tokens = responses.reduce((sum, one) => sum + one.tokens, 0);
  const promptTokens = choices.below(3) === 0 ? { promptTokens: choices.below(20) } : undefined;
  const reason = { code: 'all_rewarded', responses: n, missing: 0, waitedSeconds: 0 } as const;
  return { type: 'group.rewarded', at, roundId, promptId, ...promptTokens, samples: n, tokens, responses, reason };
}

function rewardedRound(round: Round, roundId: string, choices: Choices, at: number): Message<'round.rewarded'> {
  const isFailed = choices.below(6) === 0;
  const ids = isFailed ? [] : [...round.known];
  if (choices.below(10) === 0) ids.pop();
  const { weightVersion } = round;
  const prompts = ids.map((promptId) => {
    const response = { requestId: `${promptId}/0#0`, index: 0, tokens: 1, weightVersions: [weightVersion], reward: 1 };
    return { promptId, responses: [response] };
  });
  const reason = isFailed
    ? ({ code: 'round_failed' } as const)
    : ({ code: 'all_groups', groups: prompts.length, afterSeconds: 0 } as const);
  return { type: 'round.rewarded', at, roundId, kind: 'long', weightVersion, prompts, reason };
}

function rareEvent(
  state: PipeliningState,
  head: Round,
  roundId: string,
  choices: Choices,
  at: number,
): CompleteGroupPipeliningEvent {
  const current = currentUpdate(head);
  switch (choices.below(7)) {
    case 0:
      if (choices.below(3) > 0) break;
      return { type: 'round.failed', at, roundId };
    case 1:
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
    case 2:
      return { type: 'trainer.restarted', at, roundId, updates: choices.below(head.stepped + 2) };
    case 3:
      return publishedEvent(state, head, head, choices, at);
    case 4: {
      const updateId = updateIds.of(state, choices.below(state.nextUpdate + 1));
      return { type: 'update.consumed', at, updateId, groups: ['p0'], seconds: 1 };
    }
  }
  return { type: 'update.lost', at, updateId: current?.updateId ?? updateIds.of(state, 0) };
}
