/**
 * Dispatches an update as soon as U groups are trainable, follows the update until the optimizer has stepped, and dispatches a
 * lost update again.
 */
import { lateTraining } from '../../core/rollout/trained-groups.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { MicroBatch } from '../../schemas/pipelining.ts';
import { drop } from './groups.ts';
import {
  type Ctx,
  currentUpdate,
  type Group,
  type PipeliningState,
  type Round,
  type Update,
  updateIds,
} from './state.ts';

type DispatchReason = Message<'train.dispatch'>['reason'];
/** Reasons to dispatch an update again. */
type AgainCode = Exclude<DispatchReason['code'], 'batch_ready' | 'round_end'>;

const idOf = (group: Group): string => group.groupId;

/** Makes an update from the first waiting groups, and hands the update to the trainer. */
export function dispatch(
  state: PipeliningState,
  round: Round,
  code: 'batch_ready' | 'round_end',
  size: number,
  ctx: Ctx,
): void {
  const { times } = round;
  const waiting = round.waiting.size;
  const groups: Group[] = [];
  while (groups.length < size) groups.push(round.waiting.shift()!);
  const update: Update = {
    index: round.updates.length,
    groups,
    updateId: '',
    attempts: 0,
    consumed: null,
    consumedSeconds: 0,
  };
  if (times.idleSinceSeconds !== null) {
    times.waitSeconds += ctx.at - times.idleSinceSeconds;
    times.idleSinceSeconds = null;
  }
  times.firstDispatchSeconds ??= ctx.at;
  round.updates.push(update);
  send(state, round, update, { code, waiting, groupsPerUpdate: state.groupsPerUpdate }, ctx);
}

function send(state: PipeliningState, round: Round, update: Update, reason: DispatchReason, ctx: Ctx): void {
  const { index, groups } = update;
  update.updateId = updateIds.mint(state);
  update.attempts += 1;
  update.consumed = null;
  update.consumedSeconds = 0;
  round.dispatches += 1;
  state.live.set(update.updateId, update);
  ctx.emit({
    type: 'train.dispatch',
    at: ctx.at,
    roundId: round.roundId,
    updateId: update.updateId,
    update: index,
    weightVersion: round.weightVersion,
    groups: groups.map(idOf),
    ...sizeOf(groups),
    microBatches: microBatches(groups, state.config.maxTokensPerGpu),
    reason,
  });
}

function sizeOf(groups: readonly Group[]): { samples: number; tokens: number } {
  let samples = 0;
  let tokens = 0;
  for (let index = 0; index < groups.length; index += 1) {
    samples += groups[index]!.samples;
    tokens += groups[index]!.tokens;
  }
  return { samples, tokens };
}

/** Returns the update, or `undefined` if the update is over or was dispatched again under another id. */
export function checkUpdate(state: PipeliningState, { updateId }: { readonly updateId: string }): Update | undefined {
  const update = state.live.get(updateId);
  if (update === undefined) updateIds.check(state, 'updateId', updateId, 'an update that was dispatched', state.live);
  return update;
}

export function checkConsumed(state: PipeliningState, event: Message<'update.consumed'>): void {
  const update = checkUpdate(state, event);
  if (update === undefined) return;
  const { updateId, groups } = event;
  const current = currentUpdate(state.head!)!;
  if (update !== current) {
    const expected = `update ${current.index} of the round to be stepped on first`;
    refuse('out_of_order', 'updateId', expected, updateId);
  }
  const { consumed } = update;
  // The usual report names all groups in their given order.
  const isWhole = groups.length === update.groups.length && consumed === null;
  if (isWhole && groups.every((id, index) => id === update.groups[index]!.groupId)) return;
  const given = new Set(update.groups.map((group) => group.groupId));
  const isRepeated = consumed?.has(groups[0]!) === true;
  groups.forEach((id, index) => {
    if (!given.delete(id)) refuse('invalid_event', `groups[${index}]`, 'groups of the update, each once', id);
    if ((consumed?.has(id) === true) !== isRepeated)
      refuse('invalid_event', `groups[${index}]`, 'only groups that were not reported before', id);
  });
}

/** Records gradients that the trainer has accumulated; after the last ones, the optimizer steps. */
export function consume(state: PipeliningState, event: Message<'update.consumed'>, ctx: Ctx): void {
  const { updateId, groups, seconds } = event;
  const update = state.live.get(updateId);
  if (update === undefined) return lateTraining({ updateId }, 'update_over', ctx);
  if (update.consumed?.has(groups[0]!)) return lateTraining({ updateId }, 'already_consumed', ctx);
  const round = state.head!;
  round.times.computeSeconds += seconds;
  update.consumedSeconds += seconds;
  update.consumed ??= new Set();
  for (let index = 0; index < groups.length; index += 1) update.consumed.add(groups[index]!);
  if (update.consumed.size < update.groups.length) return;
  round.isStepping = true;
  ctx.emit({
    type: 'optimizer.step',
    at: ctx.at,
    roundId: round.roundId,
    updateId,
    groups: update.groups.map(idOf),
    ...sizeOf(update.groups),
    reason: {
      code: 'update_consumed',
      groups: update.groups.length,
      groupsPerUpdate: state.groupsPerUpdate,
      update: update.index,
      seconds: update.consumedSeconds,
    },
  });
}

export function checkStepped(state: PipeliningState, event: Message<'optimizer.stepped'>): void {
  const update = checkUpdate(state, event);
  if (update === undefined) return;
  const { roundId, updateId } = event;
  const head = state.head!;
  if (head.roundId !== roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  if (!head.isStepping || update !== currentUpdate(head))
    refuse('out_of_order', 'updateId', 'an update whose `optimizer.step` was decided', updateId);
}

/** Ends a step of the optimizer. */
export function finishStep(state: PipeliningState, event: Message<'optimizer.stepped'>, ctx: Ctx): void {
  const { updateId } = event;
  const update = state.live.get(updateId);
  const code = state.withdrawnSteps.has(updateId) ? 'step_withdrawn' : 'update_over';
  if (update === undefined) return lateTraining({ updateId }, code, ctx);
  stepOver(state, state.head!, update, ctx);
}

function stepOver(state: PipeliningState, round: Round, update: Update, ctx: Ctx): void {
  const { times } = round;
  state.live.delete(update.updateId);
  update.consumed = null;
  update.consumedSeconds = 0;
  round.stepped += 1;
  round.isStepping = false;
  times.lastStepSeconds = ctx.at;
  if (round.stepped === round.updates.length) times.idleSinceSeconds = ctx.at;
}

/** Gives up the running step, if there is one. */
function withdrawStep(state: PipeliningState, round: Round): void {
  if (round.isStepping) state.withdrawnSteps.add(currentUpdate(round)!.updateId);
  round.isStepping = false;
}

/** Dispatches a lost update again, unless its round has failed. */
export function loseUpdate(state: PipeliningState, { updateId }: Message<'update.lost'>, ctx: Ctx): void {
  const update = state.live.get(updateId);
  if (update === undefined) return lateTraining({ updateId }, 'update_over', ctx);
  const round = state.head!;
  if (update === currentUpdate(round)) withdrawStep(state, round);
  // A failed round keeps only the update on which the optimizer was stepping.
  if (round.isFailed) giveUp(state, round, update.index, ctx);
  else sendAgain(state, round, update, 'update_lost', ctx);
}

function sendAgain(state: PipeliningState, round: Round, update: Update, code: AgainCode, ctx: Ctx): void {
  const { updateId, attempts, consumed } = update;
  state.live.delete(updateId);
  send(state, round, update, { code, attempts, consumed: consumed?.size ?? 0 }, ctx);
}

/**
 * Handles a restarted trainer: it has the weights after some updates of the round and no gradients, so all later updates are
 * dispatched again.
 */
export function restartTrainer(
  state: PipeliningState,
  round: Round,
  updates: number,
  code: 'trainer_restarted' | 'host_restarted',
  ctx: Ctx,
): void {
  // The step was made; only the report of it is missing.
  if (updates > round.stepped) stepOver(state, round, currentUpdate(round)!, ctx);
  withdrawStep(state, round);
  round.stepped = updates;
  if (round.isFailed) giveUp(state, round, updates, ctx);
  // If the weights contain no update, there is nothing to publish.
  if (updates === 0) round.publicationId = null;
  if (updates === round.updates.length) return;
  round.publicationId = null;
  const { times } = round;
  if (times.idleSinceSeconds !== null) {
    times.waitSeconds += ctx.at - times.idleSinceSeconds;
    times.idleSinceSeconds = null;
  }
  for (let index = updates; index < round.updates.length; index += 1) {
    sendAgain(state, round, round.updates[index]!, code, ctx);
  }
}

/** Gives up the updates of a failed round from an index on. Returns the ids of updates on which the trainer may be working. */
export function giveUp(
  state: PipeliningState,
  round: Round,
  from: number,
  ctx: Ctx,
): { updateIds: string[]; groups: number } {
  const updates = round.updates.splice(from);
  const updateIds = updates.map((one) => one.updateId).filter((id) => state.live.delete(id));
  const groups = updates.flatMap((one) => one.groups.map(idOf));
  drop(round, groups, { code: 'round_failed', groups: groups.length }, ctx);
  return { updateIds, groups: groups.length };
}

/**
 * Cuts groups into micro-batches, each the longest prefix of the remaining groups that fits the budget. A group over the budget is
 * a micro-batch by itself.
 *
 * @param budgetTokens - most tokens of a micro-batch; no bound if absent
 */
export function microBatches(groups: readonly Group[], budgetTokens: number | undefined): MicroBatch[] {
  const budget = budgetTokens ?? Number.POSITIVE_INFINITY;
  const batches: MicroBatch[] = [];
  let last: MicroBatch | undefined;
  for (let index = 0; index < groups.length; index += 1) {
    const { groupId, tokens } = groups[index]!;
    if (last !== undefined && last.tokens + tokens <= budget) {
      last.groups.push(groupId);
      last.tokens += tokens;
      continue;
    }
    last = { groups: [groupId], tokens, dynamic: tokens > budget };
    batches.push(last);
  }
  return batches;
}
