/** Handles replicas: their work, the use of their GPUs, losses and restarts. */

import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { lateTraining } from '../../core/rollout/trained-groups.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { discard, measurePace, offload, type RequeueCode, requeue, unassign, wasFetch } from './fetches.ts';
import { checkRound, clearReplica, withdrawStep } from './rounds.ts';
import { type Ctx, type Group, type Replica, type Round, refreshStreaming, type StreamTrainingState } from './state.ts';

export function checkReplica({ byId }: StreamTrainingState, { replica }: { readonly replica: string }): void {
  if (!byId.has(replica)) refuse('unknown_id', 'replica', `one of ${[...byId.keys()].join(', ')}`, replica);
}

type Consumed = Message<'train.consumed' | 'train.finished'>;

export function checkConsumed(state: StreamTrainingState, event: Consumed): void {
  checkReplica(state, event);
  const { type, fetchId, replica, groups } = event;
  const found = state.works.get(fetchId);
  if (found === undefined) {
    if (!wasFetch(state, fetchId)) refuse('unknown_id', 'fetchId', 'a fetch or share that was decided', fetchId);
    return;
  }
  const { work } = found;
  if (found.replica.id !== replica) refuse('invalid_event', 'replica', found.replica.id, replica);
  const word = work.kind === 'fetch' ? 'train.consumed' : 'train.finished';
  if (word !== type) refuse('invalid_event', 'type', `${word} for ${fetchId}`, type);
  if (groups.length === 0 && work.groups.length > 0)
    refuse('invalid_event', 'groups', 'at least one group of the fetch', groups);
  // The usual answer names all groups in their given order.
  if (groups.length === work.groups.length && groups.every((id, index) => id === work.groups[index]!.groupId)) return;
  const given = new Set(work.groups.map((group) => group.groupId));
  groups.forEach((id, index) => {
    if (!given.delete(id)) refuse('invalid_event', `groups[${index}]`, 'groups of the fetch, each once', id);
  });
}

/** Ends a fetch; the replica offloads its gradients if it then stays idle. */
export function consumeFetch(state: StreamTrainingState, event: Message<'train.consumed'>, ctx: Ctx): void {
  consume(state, event, ctx);
  state.consumer = state.byId.get(event.replica)!;
}

/** Records that a replica holds the gradients of a fetch or share, or of some groups in it. */
export function consume(state: StreamTrainingState, event: Consumed, ctx: Ctx): void {
  const { fetchId } = event;
  const found = state.works.get(fetchId);
  if (found === undefined) return lateTraining({ fetchId }, 'fetch_over', ctx);
  const { replica, work } = found;
  const round = state.head!;
  unassign(state, replica, work, ctx.at);
  let tokens = work.tokens;
  if (event.groups.length === work.groups.length) {
    for (let index = 0; index < work.groups.length; index += 1) replica.consumed.push(work.groups[index]!);
  } else {
    const done = new Set(event.groups);
    const left: Group[] = [];
    for (const group of work.groups) (done.has(group.groupId) ? replica.consumed : left).push(group);
    for (const group of left) tokens -= group.tokens;
    const reason = { code: 'partly_consumed', consumed: event.groups.length, inFlight: left.length } as const;
    requeue(round, replica, left, reason, ctx);
    if (round.phase === 'finishing') round.finishCode ??= 'partly_consumed';
  }
  replica.samples += event.samples;
  replica.tokens += event.tokens;
  if (work.groups.length > 0) replica.gradients = 'resident';
  measurePace(state, replica, tokens, event.seconds);
}

/** Offloads the gradients of a streaming replica that stays idle, after all other decisions. */
export function makeRoom(state: StreamTrainingState, replica: Replica, ctx: Ctx): void {
  const { head } = state;
  if (head?.phase !== 'streaming') return;
  if (!replica.streams) return offload(head, replica, 'gpus_returned', ctx);
  const { gradientOffload, groupsPerRound } = state.config;
  // Between the last group and the completion of the round nothing is offloaded, because it would be reloaded at once.
  if (gradientOffload === 'idle' && head.groups.size < groupsPerRound) offload(head, replica, 'idle', ctx);
}

export function checkGpus(
  state: StreamTrainingState,
  { roundId, gpuIds }: Message<'gpus.released' | 'gpus.returned'>,
): void {
  if (roundId !== undefined) checkRound(state, { roundId });
  gpuIds.forEach((gpuId, index) => {
    if (!state.byGpu.has(gpuId)) refuse('unknown_id', `gpuIds[${index}]`, 'a GPU of a training replica', gpuId);
  });
}

/** Whether a report concerns a release whose GPUs have gone back already. */
function isEnded(round: Round, releaseId: string | undefined): boolean {
  return releaseId !== undefined && round.endedReleases.has(releaseId);
}

export function releaseGpus(state: StreamTrainingState, event: Message<'gpus.released'>, ctx: Ctx): void {
  const round = state.rounds.get(event.roundId);
  const { roundId } = event;
  if (round === undefined) return lateTraining({ roundId }, 'round_over', ctx);
  if (isEnded(round, event.releaseId)) return lateTraining({ roundId }, 'release_over', ctx);
  for (const gpuId of event.gpuIds) round.released.add(gpuId);
  refreshStreaming(state);
}

/** Handles GPUs that go back to the rollout. After the end of the round this is usual, and changes nothing here. */
export function returnGpus(state: StreamTrainingState, event: Message<'gpus.returned'>, ctx: Ctx): void {
  const { roundId } = event;
  if (roundId === undefined) for (const round of state.rounds.values()) returnFrom(state, round, event, ctx);
  else returnFrom(state, state.rounds.get(roundId), event, ctx);
}

function returnFrom(
  state: StreamTrainingState,
  round: Round | undefined,
  event: Message<'gpus.returned'>,
  ctx: Ctx,
): void {
  if (round === undefined || isEnded(round, event.releaseId)) return;
  if (event.releaseId !== undefined) round.endedReleases.add(event.releaseId);
  for (const gpuId of event.gpuIds) round.released.delete(gpuId);
  if (round !== state.head || round.phase !== 'streaming') return;
  const before = state.streaming;
  refreshStreaming(state);
  for (const one of before) if (!one.streams) makeRoom(state, one, ctx);
}

/** Handles a lost replica: its gradients are lost, and its groups are trained again elsewhere. */
export function loseReplica(state: StreamTrainingState, event: Message<'replica.lost'>, ctx: Ctx): void {
  const replica = state.byId.get(event.replica)!;
  if (!replica.present) return;
  replica.present = false;
  const { head } = state;
  if (head?.phase === 'stepping' && replica.joined) failStep(state, head, ctx);
  else if (head !== null) giveBack(state, head, replica, 'replica_lost', ctx);
  refreshStreaming(state);
}

/** Fails the step under way: gradients that were being synchronised when a replica was lost are useless on all replicas. */
function failStep(state: StreamTrainingState, round: Round, ctx: Ctx): void {
  withdrawStep(state);
  for (const one of state.replicas) {
    if (!one.joined) continue;
    if (one.present) discard(round, one, 'step_failed', ctx);
    giveBack(state, round, one, 'step_failed', ctx);
  }
}

function giveBack(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
  code: Extract<RequeueCode, 'replica_lost' | 'step_failed' | 'host_restarted'>,
  ctx: Ctx,
): void {
  const { consumed } = replica;
  const inFlight = replica.works.flatMap((work) => work.groups);
  clearReplica(state, replica);
  const reason = { code, consumed: consumed.length, inFlight: inFlight.length };
  requeue(round, replica, [...consumed, ...inFlight], reason, ctx);
  if (round.phase === 'finishing' && reason.consumed + reason.inFlight > 0) round.finishCode = code;
}

export function addReplica(state: StreamTrainingState, event: Message<'replica.added'>): void {
  state.byId.get(event.replica)!.present = true;
  refreshStreaming(state);
}

/**
 * Forgets all gradients. Replicas and released GPUs stay as last reported. A decision names the rounds that continue, because the
 * host must end them.
 */
export function restartHost(state: StreamTrainingState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  withdrawStep(state);
  replacePrefix(state, idPrefix);
  const { head } = state;
  for (const one of state.replicas) if (head !== null) giveBack(state, head, one, 'host_restarted', ctx);
  if (head !== null && head.phase === 'finishing') head.finishCode = 'host_restarted';
  refreshStreaming(state);
  for (const { roundId, groups, completedSeconds } of state.rounds.values()) {
    if (completedSeconds !== null) continue;
    const promptIds = [...groups.keys()];
    const reason = { code: 'host_restarted', prompts: promptIds.length } as const;
    ctx.emit({ type: 'round.resumed', at: ctx.at, roundId, promptIds, reason });
  }
}
