/** Opens rounds, closes them, gives them up, and hands them over when their weights are published. */

import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { isOfRound, olderVersion, restartRoundAt } from '../../core/rollout/restart-versions.ts';
import { lateTraining } from '../../core/rollout/trained-groups.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { drop } from './groups.ts';
import { type Ctx, checkRound, newRound, type PipeliningState, publicationIds, type Round, trained } from './state.ts';
import { dispatch, giveUp, restartTrainer } from './updates.ts';

type PublishCode = Message<'weights.publish'>['reason']['code'];

export function checkOpening(state: PipeliningState, { roundId, weightVersion }: Message<'round.opened'>): void {
  if (state.rounds.has(roundId) || state.recentRounds.has(roundId))
    refuse('duplicate_id', 'roundId', 'a new round id', roundId);
  if (weightVersion < state.weightVersion)
    refuse('out_of_order', 'weightVersion', olderVersion(state.weightVersion), weightVersion);
}

export function openRound(state: PipeliningState, event: Message<'round.opened'>, ctx: Ctx): void {
  const { roundId, weightVersion } = event;
  state.rounds.set(roundId, newRound(roundId, weightVersion, ctx.at));
  state.weightVersion = weightVersion;
  if (state.head === null) setHead(state, ctx);
}

/** Makes the oldest round the head, which is trained: from now on the trainer waits for its groups. */
function setHead(state: PipeliningState, ctx: Ctx): void {
  state.head = state.rounds.values().next().value ?? null;
  if (state.head !== null) state.head.times.idleSinceSeconds = ctx.at;
}

export function checkRewarded(state: PipeliningState, event: Message<'round.rewarded'>): void {
  const round = checkRound(state, event);
  if (round === undefined || round.times.closedSeconds !== null || event.reason.code === 'round_failed') return;
  const { weightVersion, prompts } = event;
  if (!isOfRound(round, weightVersion))
    refuse('invalid_event', 'weightVersion', `that of the round, ${round.weightVersion}`, weightVersion);
  const named = new Set<string>();
  for (let index = 0; index < prompts.length; index += 1) {
    const { promptId } = prompts[index]!;
    if (!round.known.has(promptId))
      refuse('unknown_id', `prompts[${index}].promptId`, 'a group that was rewarded', promptId);
    if (named.has(promptId)) refuse('duplicate_id', `prompts[${index}].promptId`, 'every group once', promptId);
    named.add(promptId);
  }
  if (named.size < round.known.size)
    refuse('invalid_event', 'prompts', `all ${round.known.size} groups that were rewarded`, named.size);
}

/** Closes a round to further groups: the waiting groups become a last, smaller update. */
export function closeRound(state: PipeliningState, event: Message<'round.rewarded'>, ctx: Ctx): void {
  const { roundId } = event;
  const round = state.rounds.get(roundId);
  if (round === undefined || round.times.closedSeconds !== null) return lateFor(roundId, round, ctx);
  if (event.reason.code === 'round_failed') return giveUpRound(state, round, ctx);
  round.times.closedSeconds = ctx.at;
  if (round.trainable > 0) round.times.firstBatchSeconds ??= ctx.at;
}

export function failRound(state: PipeliningState, { roundId }: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined || round.isFailed || round.publicationId !== null) return lateFor(roundId, round, ctx);
  giveUpRound(state, round, ctx);
}

/** Gives a round up. Optimizer steps that were made or are under way stay; all other groups of the round leave. */
function giveUpRound(state: PipeliningState, round: Round, ctx: Ctx): void {
  const { roundId } = round;
  round.isFailed = true;
  round.times.closedSeconds ??= ctx.at;
  const { updateIds, groups: given } = giveUp(state, round, round.stepped + (round.isStepping ? 1 : 0), ctx);
  if (updateIds.length > 0) {
    const reason = { code: 'round_failed', groups: given } as const;
    ctx.emit({ type: 'update.cancel', at: ctx.at, roundId, updateIds, reason });
  }
  const groups = [...round.waiting].map((one) => one.groupId);
  round.waiting.clear();
  drop(round, groups, { code: 'round_failed', groups: groups.length }, ctx);
  // Another round is being trained, so the trainer holds nothing of this round.
  if (round !== state.head) forget(state, round);
}

function lateFor(roundId: string, round: Round | undefined, ctx: Ctx): void {
  lateTraining({ roundId }, round === undefined || round.isFailed ? 'round_over' : 'round_completed', ctx);
}

/** Makes all decisions that the state allows: updates, the publication, and the start of the next round. */
export function settle(state: PipeliningState, ctx: Ctx): void {
  for (let round = state.head; round !== null; round = state.head) {
    const { waiting, times } = round;
    if (!state.config.pipelining && times.closedSeconds === null) return;
    while (waiting.size >= state.groupsPerUpdate) dispatch(state, round, 'batch_ready', state.groupsPerUpdate, ctx);
    if (times.closedSeconds === null || round.publicationId !== null) return;
    if (waiting.size > 0) dispatch(state, round, 'round_end', waiting.size, ctx);
    if (round.stepped < round.updates.length) return;
    if (round.stepped > 0) return publish(state, round, round.isFailed ? 'round_failed' : 'all_consumed', ctx);
    endWithoutTraining(state, round, ctx);
  }
}

function publish(state: PipeliningState, round: Round, code: PublishCode, ctx: Ctx): void {
  const { roundId, weightVersion, times } = round;
  const publicationId = publicationIds.mint(state);
  round.publicationId = publicationId;
  times.publicationSeconds = ctx.at;
  const numbers = trained(round);
  const afterSeconds = ctx.at - times.closedSeconds!;
  const reason = code === 'all_consumed' ? { code, ...numbers, afterSeconds } : { code, ...numbers };
  ctx.emit({ type: 'weights.publish', at: ctx.at, roundId, publicationId, weightVersion, reason });
}

/** Ends a round without a publication, because its weights have not changed. */
function endWithoutTraining(state: PipeliningState, round: Round, ctx: Ctx): void {
  const { roundId, isFailed } = round;
  if (!isFailed) {
    ctx.emit({ type: 'round.trained', at: ctx.at, roundId, groups: [], reason: { code: 'nothing_to_train' } });
  }
  forget(state, round);
  setHead(state, ctx);
}

export function checkPublished(
  state: PipeliningState,
  { roundId, publicationId, weightVersion }: Message<'weights.published'>,
): void {
  const { head } = state;
  if (head === null || head.publicationId !== publicationId) {
    if (publicationIds.was(state, publicationId)) return;
    return refuse('unknown_id', 'publicationId', 'a `weights.publish` that was decided', publicationId);
  }
  if (head.roundId !== roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  // A trainer that has fallen back trains the round from older weights.
  const before = Math.min(head.weightVersion, ...(head.restartVersions ?? []));
  if (weightVersion <= before) refuse('invalid_event', 'weightVersion', `a version after ${before}`, weightVersion);
}

/** Ends a round whose weights have reached the rollout engines. */
export function finishRound(state: PipeliningState, event: Message<'weights.published'>, ctx: Ctx): void {
  const { roundId, publicationId } = event;
  const { at } = ctx;
  const round = state.head;
  // The publication was confirmed before, or the trainer has fallen back since and will publish again.
  if (round === null || round.publicationId !== publicationId) {
    return lateTraining({ roundId, publicationId }, 'publication_over', ctx);
  }
  const { dropped, dispatches, times } = round;
  const numbers = trained(round);
  const groups = round.updates.flatMap((one) => one.groups.map((group) => group.groupId));
  const afterSeconds = at - times.closedSeconds!;
  ctx.emit({ type: 'round.trained', at, roundId, groups, reason: { code: 'published', ...numbers, afterSeconds } });
  if (!round.isFailed) {
    const reason = { code: 'round_trained', ...numbers, dropped, dispatches } as const;
    ctx.emit({ type: 'pipeline.measured', at, ...measures(round), reason });
  }
  forget(state, round);
  setHead(state, ctx);
}

function forget(state: PipeliningState, round: Round): void {
  state.rounds.delete(round.roundId);
  state.recentRounds.add(round.roundId);
}

/** Recovers after the trainer has lost gradients, and perhaps also steps or the command to publish. */
export function recover(
  state: PipeliningState,
  round: Round,
  updates: number,
  code: 'trainer_restarted' | 'host_restarted',
  ctx: Ctx,
): void {
  restartTrainer(state, round, updates, code, ctx);
  if (round.publicationId !== null) publish(state, round, code, ctx);
}

export function checkRestart(state: PipeliningState, event: Message<'trainer.restarted'>): void {
  const round = checkRound(state, event);
  if (round === undefined) return;
  const { roundId, updates } = event;
  if (round !== state.head)
    refuse('out_of_order', 'roundId', `the round that is trained, ${state.head!.roundId}`, roundId);
  const most = round.stepped + (round.isStepping ? 1 : 0);
  if (updates > most) refuse('invalid_event', 'updates', `at most ${most}, the steps that were decided`, updates);
}

/** Handles a restart of the trainer. */
export function restartedTrainer(state: PipeliningState, event: Message<'trainer.restarted'>, ctx: Ctx): void {
  const { roundId, updates } = event;
  const round = state.rounds.get(roundId);
  if (round === undefined) return lateFor(roundId, round, ctx);
  recover(state, round, updates, 'trainer_restarted', ctx);
}

/** Forgets everything in flight; steps that were reported are in the weights. `round.resumed` names the rounds that continue. */
export function restartHost(
  state: PipeliningState,
  { idPrefix, weightVersion: now }: Message<'host.restarted'>,
  ctx: Ctx,
): void {
  replacePrefix(state, idPrefix);
  if (now !== undefined) {
    state.weightVersion = now;
    for (const round of state.rounds.values()) restartRoundAt(round, now);
  }
  if (state.head !== null) recover(state, state.head, state.head.stepped, 'host_restarted', ctx);
  for (const { roundId, weightVersion, known, times } of state.rounds.values()) {
    if (times.closedSeconds !== null) continue;
    const promptIds = [...known];
    const reason = { code: 'host_restarted', prompts: promptIds.length } as const;
    ctx.emit({ type: 'round.resumed', at: ctx.at, roundId, weightVersion, promptIds, reason });
  }
}

type Measures = Omit<Message<'pipeline.measured'>, 'type' | 'at' | 'reason'>;

/** Returns part ÷ whole, or 0 if the whole is 0. The result is limited to 0 to 1, because sums of seconds have rounding errors. */
const ratio = (part: number, whole: number): number => (whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0);

/** Returns the measures of a round after its training. */
export function measures({ roundId, times }: Round): Measures {
  const { openedSeconds: start, waitSeconds, computeSeconds } = times;
  const since = (at: number | null): number => Math.max(0, (at ?? start) - start);
  const rolloutSeconds = since(times.closedSeconds);
  const firstBatchSeconds = since(times.firstBatchSeconds);
  const firstDispatchSeconds = since(times.firstDispatchSeconds);
  const trainEndSeconds = since(times.lastStepSeconds);
  return {
    roundId,
    rolloutSeconds,
    firstBatchSeconds,
    firstDispatchSeconds,
    recoverySeconds: Math.max(0, rolloutSeconds - firstBatchSeconds),
    trainEndSeconds,
    waitSeconds,
    computeSeconds,
    startWaitingRatio: ratio(firstDispatchSeconds, trainEndSeconds),
    computeWaitingRatio: ratio(waitSeconds, waitSeconds + computeSeconds),
    wallClockWaitingRatio: ratio(waitSeconds, trainEndSeconds),
  };
}
