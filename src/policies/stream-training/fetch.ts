/**
 * Decides fetches during the rollout. A fetch takes the waiting work divided by the number of streaming replicas (guided
 * self-scheduling: fetches shrink with the backlog, and replicas end together), but no more than the replica can train until the
 * expected end of the round.
 */

import type { Message } from '../../schemas/messages.ts';
import { longestFirst } from './longest-first.ts';
import type { Ctx } from './messages.ts';
import { restSeconds, secondsPerToken } from './pace.ts';
import { type Group, type Replica, type Round, type StreamTrainingState, waitingCount } from './state.ts';
import { assign, referencePass, reload } from './work.ts';

type FetchReason = Message<'train.fetch'>['reason'];

/** Gives work to streaming replicas that have none, as long as enough waits. */
export function feed(state: StreamTrainingState, round: Round, ctx: Ctx): void {
  const { fetch, groupsPerRound, minFetchGroups } = state.config;
  // The last groups are left for all replicas together, because the round is almost over.
  if (state.idle === 0 || round.groups.size >= groupsPerRound) return;
  if (fetch !== 'stream') return feedOnce(state, round, fetch.once, ctx);
  while (state.idle > 0 && waitingCount(round) >= minFetchGroups) {
    const replica = fastestIdle(state);
    const { budgetTokens, reason } = size(state, round, replica);
    send(state, round, replica, take(round, budgetTokens, minFetchGroups), reason, ctx);
  }
}

/** Decides the single fetch of the paper's baseline, for all idle streaming replicas. */
function feedOnce(state: StreamTrainingState, round: Round, fraction: number, ctx: Ctx): void {
  const waitingGroups = waitingCount(round);
  const capGroups = Math.floor(fraction * state.config.groupsPerRound + 1e-9);
  const count = Math.min(waitingGroups, capGroups);
  if (round.fetchedOnce || count === 0) return;
  round.fetchedOnce = true;
  const replicas = state.streaming.filter((one) => one.works.length === 0);
  const groups = take(round, 0, count);
  const workers = replicas.map((one) => ({
    freeInSeconds: 0,
    secondsPerUnit: secondsPerToken(state, one) ?? 1,
  }));
  const { shares } = longestFirst(
    groups.map((group) => group.tokens),
    workers,
  );
  replicas.forEach((replica, at) => {
    const share = [...shares[at]!].sort((a, b) => a - b).map((index) => groups[index]!);
    if (share.length > 0) send(state, round, replica, share, { code: 'once', waitingGroups, capGroups }, ctx);
  });
}

/** Returns the fastest idle replica; ties go to the first in the configuration. Replicas without a measurement come first. */
function fastestIdle(state: StreamTrainingState): Replica {
  let best: Replica | undefined;
  let bestPace = Number.POSITIVE_INFINITY;
  for (const one of state.streaming) {
    if (one.works.length > 0) continue;
    const pace = one.paceTokens > 0 ? one.paceSeconds / one.paceTokens : 0;
    if (best !== undefined && pace >= bestPace) continue;
    best = one;
    bestPace = pace;
  }
  return best!;
}

function size(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
): { budgetTokens: number; reason: FetchReason } {
  const { groupsPerRound } = state.config;
  const waitingGroups = waitingCount(round);
  const perToken = secondsPerToken(state, replica);
  if (perToken === undefined) return { budgetTokens: 0, reason: { code: 'probe', waitingGroups } };
  const replicas = state.streaming.length;
  const { waitingTokens } = round;
  const share = waitingTokens / replicas;
  const rest = restSeconds(round, groupsPerRound);
  if (rest === undefined || rest >= share * perToken) {
    return { budgetTokens: share, reason: { code: 'fair_share', waitingGroups, waitingTokens, replicas } };
  }
  const missingGroups = groupsPerRound - round.groups.size;
  const reason = {
    code: 'round_end',
    waitingGroups,
    missingGroups,
    restSeconds: rest,
    secondsPerToken: perToken,
  } as const;
  return { budgetTokens: rest / perToken, reason };
}

/** Takes groups in order: at least `least` groups, and more as long as they fit the budget. */
function take(round: Round, budgetTokens: number, least: number): Group[] {
  const taken: Group[] = [];
  let tokens = 0;
  for (;;) {
    const from = round.again.size > 0 ? round.again : round.fresh;
    const group = from.peek();
    if (group === undefined || (taken.length >= least && tokens + group.tokens > budgetTokens)) break;
    from.shift();
    taken.push(group);
    tokens += group.tokens;
  }
  round.waitingTokens -= tokens;
  return taken;
}

function send(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
  groups: Group[],
  reason: FetchReason,
  ctx: Ctx,
): void {
  const { work, samples } = assign(state, replica, 'fetch', groups, ctx.at);
  referencePass(state, round, replica, work, ctx);
  reload(round, replica, 'fetch', ctx);
  ctx.emit({
    type: 'train.fetch',
    at: ctx.at,
    roundId: round.roundId,
    fetchId: work.fetchId,
    replica: replica.id,
    groups: groups.map((group) => group.groupId),
    samples,
    tokens: work.tokens,
    gradientSync: false,
    optimizerLoaded: false,
    reason,
  });
}
