/**
 * The life of a round: it opens, its groups complete, it is completed or given up; its gradients are scaled, the optimizer steps once, and
 * it is handed over.
 */

import { checkKnown, mintedAs } from '../../core/ids/minted-ids.ts';
import { scaleFactor } from '../../core/numeric/renormalize.ts';
import { lateTraining } from '../../core/rollout/trained-groups.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { discard, measureGap, requeue } from './fetches.ts';
import {
  type Ctx,
  type Group,
  keepWaiting,
  newRound,
  type Replica,
  type Round,
  refreshStreaming,
  type StreamTrainingState,
  waitingCount,
} from './state.ts';

export function checkOpening(state: StreamTrainingState, { roundId }: Message<'round.opened'>): void {
  if (!state.rounds.has(roundId) && !state.recentRounds.has(roundId)) return;
  refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

export function openRound(state: StreamTrainingState, { roundId }: Message<'round.opened'>): void {
  state.rounds.set(roundId, newRound(roundId));
  if (state.head === null) setHead(state);
}

/** Refuses a round that was never opened, as far as the policy can know. */
export function checkRound(
  { rounds, recentRounds }: StreamTrainingState,
  { roundId }: { readonly roundId: string },
): void {
  checkKnown('roundId', roundId, 'a round that was opened', rounds, recentRounds);
}

export function completeGroup(state: StreamTrainingState, event: Message<'group.completed'>, ctx: Ctx): void {
  const { roundId, groupId, samples, tokens } = event;
  const round = state.rounds.get(roundId);
  if (round === undefined) return lateGroup('round_over');
  if (round.groups.has(groupId)) return lateGroup('known');
  if (round.completedSeconds !== null) return lateGroup('round_completed');
  const group: Group = { groupId, samples, tokens, seq: state.nextSeq++ };
  round.groups.set(groupId, group);
  round.fresh.push(group);
  round.waitingTokens += tokens;
  measureGap(round, ctx.at);

  function lateGroup(code: 'round_over' | 'known' | 'round_completed'): void {
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
    return lateTraining({ roundId }, round === undefined ? 'round_over' : 'round_completed', ctx);
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
  if (round === undefined) return lateTraining({ roundId }, 'round_over', ctx);
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

/** Ids of the tries to step. */
export const updateIds = mintedAs('update#', 'nextUpdate');

/** Returns the id of the try to step that is under way; the prefix does not change before the try is over. */
function currentStep(state: StreamTrainingState): string | undefined {
  return state.head?.phase === 'stepping' ? updateIds.of(state, state.nextUpdate - 1) : undefined;
}

/** Gives up the running step, if there is one. */
export function withdrawStep(state: StreamTrainingState): void {
  const updateId = currentStep(state);
  if (updateId === undefined) return;
  state.withdrawnSteps.add(updateId);
  state.head!.phase = 'finishing';
}

/** Scales the gradients and lets the optimizer step, once no work is in flight or waits. */
export function step(state: StreamTrainingState, round: Round, ctx: Ctx): void {
  const { unit, divisor, reduction, collective } = state.config;
  const joined = state.replicas.filter((one) => one.joined);
  if (state.works.size > 0 || waitingCount(round) > 0 || joined.length === 0) return;
  round.phase = 'stepping';
  const unitsOf = (one: Replica): number => {
    if (unit === 'groups') return one.consumed.length;
    return unit === 'tokens' ? one.tokens : one.samples;
  };
  const sum = (of: (one: Replica) => number): number => joined.reduce((total, one) => total + of(one), 0);
  const total = divisor ?? sum(unitsOf);
  const replicas = joined.length;
  const { at } = ctx;
  const { roundId } = round;
  for (const one of joined) {
    const units = unitsOf(one);
    const factor = scaleFactor({ units, total, replicas, reduction, collective });
    const code = reduction === 'mean' ? 'local_mean' : 'local_sum';
    ctx.emit({
      type: 'gradient.scale',
      at,
      roundId,
      replica: one.id,
      factor,
      reason: { code, units, total, replicas },
    });
  }
  ctx.emit({
    type: 'optimizer.step',
    at,
    roundId,
    updateId: updateIds.mint(state),
    replicas: joined.map((one) => one.id),
    samples: sum((one) => one.samples),
    tokens: sum((one) => one.tokens),
    reason: {
      code: 'all_finished',
      groups: round.groups.size,
      streamed: round.streamed,
      afterSeconds: at - round.completedSeconds!,
    },
  });
}

export function checkStepped(state: StreamTrainingState, { roundId, updateId }: Message<'optimizer.stepped'>): void {
  if (updateId === currentStep(state)) {
    const head = state.head!;
    if (roundId !== head.roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  } else if (!updateIds.was(state, updateId)) {
    refuse('unknown_id', 'updateId', 'an `optimizer.step` that was decided', updateId);
  }
}

/** Ends a step of the optimizer. A try that was given up does not end the round. */
export function stepped(
  state: StreamTrainingState,
  { roundId, updateId }: Message<'optimizer.stepped'>,
  ctx: Ctx,
): void {
  if (updateId === currentStep(state)) return handOver(state, state.head!, ctx);
  const code = state.withdrawnSteps.has(updateId) ? 'step_withdrawn' : 'update_over';
  lateTraining({ roundId, updateId }, code, ctx);
}

/** Hands over the groups of a trained round, and makes the next round the head. */
export function handOver(state: StreamTrainingState, round: Round, ctx: Ctx): void {
  const groups = [...round.groups.keys()];
  ctx.emit({
    type: 'round.trained',
    at: ctx.at,
    roundId: round.roundId,
    groups,
    reason:
      groups.length === 0
        ? { code: 'nothing_to_train' }
        : {
            code: 'stepped',
            groups: groups.length,
            streamed: round.streamed,
            afterSeconds: ctx.at - round.completedSeconds!,
          },
  });
  closeHead(state);
}

/** Removes the head round; the next round becomes the head. */
export function closeHead(state: StreamTrainingState): void {
  const head = state.head!;
  state.rounds.delete(head.roundId);
  for (const one of state.replicas) clearReplica(state, one);
  setHead(state);
  state.recentRounds.add(head.roundId);
}

/** Makes the oldest round the head. */
export function setHead(state: StreamTrainingState): void {
  state.head = state.rounds.values().next().value ?? null;
  if (state.head !== null && state.head.completedSeconds !== null) state.head.phase = 'finishing';
  refreshStreaming(state);
}

/** Forgets the work and the gradients of a replica. */
export function clearReplica(state: StreamTrainingState, replica: Replica): void {
  for (const work of replica.works) state.works.delete(work.fetchId);
  replica.works = [];
  replica.consumed = [];
  replica.samples = 0;
  replica.tokens = 0;
  replica.gradients = 'none';
  replica.joined = false;
}
