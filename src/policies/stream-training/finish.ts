/** The end of a round: what remains is spread over all replicas, gradients are scaled, the optimizer steps once. */
import { longestFirst } from '../../core/longest-first.ts';
import { scaleFactor } from '../../core/renormalize.ts';
import type { TrainingShare } from '../../schemas/training.ts';
import { closeHead } from './head.ts';
import { busySeconds, secondsPerToken } from './pace.ts';
import {
  currentStep,
  type Group,
  type Replica,
  type Round,
  type StreamTrainingState,
  updateIdOf,
  waitingCount,
} from './state.ts';
import type { Ctx, EventNamed } from './words.ts';
import { assign, referencePass, reload } from './work.ts';

/** Spreads what waits over every replica that is there, so that they end together; new replicas join. */
export function spread(state: StreamTrainingState, round: Round, ctx: Ctx): void {
  const replicas = state.replicas.filter((one) => one.present);
  if (replicas.length === 0) return;
  const code = round.finishCode ?? 'round_completed';
  round.finishCode = null;
  const groups = [...round.again, ...round.fresh];
  round.again.clear();
  round.fresh.clear();
  round.waitingTokens = 0;
  const remaining = groups.length;
  // Before anything was measured, a token counts as a second on every replica.
  const workers = replicas.map((one) => {
    const perToken = secondsPerToken(state, one) ?? 1;
    return { freeInSeconds: busySeconds(one, perToken, ctx.at), secondsPerUnit: perToken };
  });
  const { shares: plan, makespanSeconds } = longestFirst(
    groups.map((one) => one.tokens),
    workers,
  );
  const shares: TrainingShare[] = [];
  replicas.forEach((replica, at) => {
    const share = plan[at]!.map((index) => groups[index]!);
    // Every replica gets one when it joins, if only to take part in the step.
    if (share.length > 0 || !replica.joined) shares.push(give(state, round, replica, share, ctx));
    replica.joined = true;
  });
  const isMeasured = state.paceTokens > 0;
  ctx.emit({
    type: 'train.finish',
    at: ctx.at,
    roundId: round.roundId,
    remaining,
    shares,
    ...(isMeasured ? { expectedSeconds: makespanSeconds } : undefined),
    reason: { code, remaining, streamed: round.streamed, replicas: replicas.length },
  });
}

function give(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
  groups: readonly Group[],
  ctx: Ctx,
): TrainingShare {
  const { work, samples } = assign(state, replica, 'share', groups, ctx.at);
  referencePass(state, round, replica, work, ctx);
  reload(round, replica, 'finish', ctx);
  const ids = groups.map((group) => group.groupId);
  return { fetchId: work.fetchId, replica: replica.id, groups: ids, samples, tokens: work.tokens };
}

/** Scales the gradients and lets the optimizer step, when nothing is in flight or waits. */
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

/** The optimizer has stepped. What a try that was given up has done is not what the round waits for. */
export function stepped(
  state: StreamTrainingState,
  { roundId, updateId }: EventNamed<'optimizer.stepped'>,
  ctx: Ctx,
): void {
  if (updateId === currentStep(state)) return handOver(state, state.head!, ctx);
  const code = state.withdrawnSteps.has(updateId) ? 'step_withdrawn' : 'update_over';
  ctx.emit({ type: 'training.late', at: ctx.at, roundId, updateId, reason: { code } });
}

/** The round is trained: its groups are handed over, and the next round is the head. */
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
