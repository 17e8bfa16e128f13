/** The end of a round: the remaining groups are spread over all replicas. */

import { given } from '../../core/collections/given.ts';
import type { TrainingShare } from '../../schemas/training.ts';
import { longestFirst } from './longest-first.ts';
import type { Ctx } from './messages.ts';
import { busySeconds, secondsPerToken } from './pace.ts';
import type { Group, Replica, Round, StreamTrainingState } from './state.ts';
import { assign, referencePass, reload } from './work.ts';

/** Spreads the waiting groups over all present replicas, so that these end together; new replicas join. */
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
  // Before any measurement, a token is assumed to take one second on every replica.
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
    // Every replica gets a share when it joins, even an empty one, because it takes part in the step.
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
    ...given({ expectedSeconds: isMeasured ? makespanSeconds : undefined }),
    reason: { code, remaining, streamed: round.streamed, replicas: replicas.length },
  });
}

function give(state: StreamTrainingState, round: Round, replica: Replica, groups: Group[], ctx: Ctx): TrainingShare {
  const { work, samples } = assign(state, replica, 'share', groups, ctx.at);
  referencePass(state, round, replica, work, ctx);
  reload(round, replica, 'finish', ctx);
  const ids = groups.map((group) => group.groupId);
  return { fetchId: work.fetchId, replica: replica.id, groups: ids, samples, tokens: work.tokens };
}
