/** The step: gradients are scaled, the optimizer steps once, and the round is handed over. */
import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import { scaleFactor } from '../../core/numeric/renormalize.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { closeHead } from './head.ts';
import type { Ctx } from './messages.ts';
import { type Replica, type Round, type StreamTrainingState, waitingCount } from './state.ts';

const update = 'update#';

/** Returns the id of a try to step. */
export function updateIdOf({ prefix }: StreamTrainingState, number: number): string {
  return mintedId(prefix, update, number);
}

/** Returns the id of the try to step that is under way; the prefix does not change before the try is over. */
function currentStep(state: StreamTrainingState): string | undefined {
  return state.head?.phase === 'stepping' ? updateIdOf(state, state.nextUpdate - 1) : undefined;
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
    updateId: updateIdOf(state, state.nextUpdate++),
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
  } else if (!wasMinted(state, updateId, state.nextUpdate, update)) {
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
  ctx.emit({ type: 'training.late', at: ctx.at, roundId, updateId, reason: { code } });
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
