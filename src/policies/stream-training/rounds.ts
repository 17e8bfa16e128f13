/** Opens rounds, adds their groups, completes them and gives them up. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { clearReplica, closeHead, setHead } from './head.ts';
import type { Ctx } from './messages.ts';
import { measureGap } from './pace.ts';
import {
  type Group,
  keepWaiting,
  newRound,
  type Round,
  refreshStreaming,
  type StreamTrainingState,
  waitingCount,
} from './state.ts';
import { withdrawStep } from './steps.ts';
import { discard, requeue } from './work.ts';

export function checkOpening(state: StreamTrainingState, { roundId }: Message<'round.opened'>): void {
  if (!state.rounds.has(roundId) && !state.recentRounds.has(roundId)) return;
  refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

export function openRound(state: StreamTrainingState, { roundId }: Message<'round.opened'>): void {
  state.rounds.set(roundId, newRound(roundId));
  if (state.head === null) setHead(state);
}

/** Refuses a round that was never opened, as far as the policy can know. */
export function checkRound(state: StreamTrainingState, { roundId }: { readonly roundId: string }): void {
  if (state.rounds.has(roundId) || state.recentRounds.has(roundId)) return;
  refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
}

export function completeGroup(state: StreamTrainingState, event: Message<'group.completed'>, ctx: Ctx): void {
  const { roundId, groupId, samples, tokens } = event;
  const round = state.rounds.get(roundId);
  if (round === undefined) return late('round_over');
  if (round.groups.has(groupId)) return late('known');
  if (round.completedSeconds !== null) return late('round_completed');
  const group: Group = { groupId, samples, tokens, seq: state.nextSeq++ };
  round.groups.set(groupId, group);
  round.fresh.push(group);
  round.waitingTokens += tokens;
  measureGap(round, ctx.at);

  function late(code: 'round_over' | 'known' | 'round_completed'): void {
    ctx.emit({ type: 'group.late', at: ctx.at, roundId, groupId, reason: { code } });
  }
}

export function checkCompleted(state: StreamTrainingState, event: Message<'round.completed'>): void {
  checkRound(state, event);
  const round = state.rounds.get(event.roundId);
  if (round === undefined || round.completedSeconds !== null) return;
  const seen = new Set<string>();
  event.prompts.forEach(({ promptId }, index) => {
    const path = `prompts[${index}].promptId`;
    if (!round.groups.has(promptId)) refuse('unknown_id', path, 'a group that was completed', promptId);
    if (seen.has(promptId)) refuse('duplicate_id', path, 'every group once', promptId);
    seen.add(promptId);
  });
}

/** Completes a round: only the named groups are trained. Other groups leave, and gradients that contain them are dropped. */
export function completeRound(state: StreamTrainingState, event: Message<'round.completed'>, ctx: Ctx): void {
  const { roundId, prompts } = event;
  const round = state.rounds.get(roundId);
  if (round === undefined || round.completedSeconds !== null) {
    const code = round === undefined ? 'round_over' : 'round_completed';
    ctx.emit({ type: 'training.late', at: ctx.at, roundId, reason: { code } });
    return;
  }
  round.completedSeconds = ctx.at;
  if (prompts.length < round.groups.size) dropNotFinal(state, round, new Set(prompts.map((one) => one.promptId)), ctx);
  round.streamed = round.groups.size - waitingCount(round);
  round.finishCode = 'round_completed';
  if (state.head !== round) return;
  round.phase = 'finishing';
  refreshStreaming(state);
}

function dropNotFinal(state: StreamTrainingState, round: Round, final: ReadonlySet<string>, ctx: Ctx): void {
  const isFinal = (group: Group): boolean => final.has(group.groupId);
  for (const replica of round === state.head ? state.replicas : []) {
    const inFlight = replica.works.flatMap((work) => work.groups);
    const { consumed } = replica;
    if (consumed.every(isFinal) && inFlight.every(isFinal)) continue;
    discard(round, replica, 'not_final', ctx);
    clearReplica(state, replica);
    const groups = [...consumed, ...inFlight].filter(isFinal);
    const reason = { code: 'not_final', consumed: consumed.length, inFlight: inFlight.length } as const;
    requeue(round, replica, groups, reason, ctx);
  }
  const dropped = [...round.groups.values()].filter((group) => !isFinal(group));
  for (const { groupId } of dropped) round.groups.delete(groupId);
  keepWaiting(round, isFinal);
  drop(round, dropped, 'not_final', ctx);
}

export function failRound(state: StreamTrainingState, { roundId }: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) {
    ctx.emit({ type: 'training.late', at: ctx.at, roundId, reason: { code: 'round_over' } });
    return;
  }
  const isHead = round === state.head;
  if (isHead) {
    withdrawStep(state);
    for (const replica of state.replicas) discard(round, replica, 'round_failed', ctx);
  }
  drop(round, [...round.groups.values()], 'round_failed', ctx);
  if (isHead) return closeHead(state);
  state.rounds.delete(roundId);
  state.recentRounds.add(roundId);
}

function drop(round: Round, dropped: readonly Group[], code: 'round_failed' | 'not_final', ctx: Ctx): void {
  if (dropped.length === 0) return;
  const groups = dropped.map((group) => group.groupId);
  const reason = { code, groups: groups.length };
  ctx.emit({ type: 'groups.dropped', at: ctx.at, roundId: round.roundId, groups, reason });
}
