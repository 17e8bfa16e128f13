/**
 * Fetches during the rollout, and shares at its end. A fetch takes the waiting work divided by the number of streaming replicas (guided
 * self-scheduling: fetches shrink with the backlog, and replicas end together), but no more than the replica can train until the
 * expected end of the round.
 */

import { given } from '../../core/collections/given.ts';
import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import { longestFirst } from '../../core/numeric/longest-first.ts';
import type { Message } from '../../schemas/messages.ts';
import type { TrainingShare } from '../../schemas/training.ts';
import {
  type Ctx,
  type Group,
  type Replica,
  type Round,
  type StreamTrainingState,
  type Work,
  waitingCount,
} from './state.ts';

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

/** Reasons to train groups again. */
export type RequeueCode = Message<'train.requeued'>['reason']['code'];
type DiscardCode = Message<'gradients.discard'>['reason']['code'];

/** Whether a fetch or share that is not in flight may have been decided earlier. */
export function wasFetch(state: StreamTrainingState, fetchId: string): boolean {
  return wasMinted(state, fetchId, state.nextFetch, (kind) => kind.endsWith('#') && state.byId.has(kind.slice(0, -1)));
}

const idOf = (group: Group): string => group.groupId;

/** Gives work to a replica, after its earlier work. */
export function assign(
  state: StreamTrainingState,
  replica: Replica,
  kind: Work['kind'],
  groups: Group[],
  at: number,
): { work: Work; samples: number } {
  let samples = 0;
  let tokens = 0;
  for (let index = 0; index < groups.length; index += 1) {
    samples += groups[index]!.samples;
    tokens += groups[index]!.tokens;
  }
  const fetchId = mintedId(state.prefix, `${replica.id}#`, state.nextFetch++);
  const work: Work = { fetchId, kind, groups, startedSeconds: replica.works.length === 0 ? at : null, tokens };
  if (replica.streams && replica.works.length === 0) state.idle -= 1;
  replica.works.push(work);
  state.works.set(fetchId, { replica, work });
  return { work, samples };
}

/** Removes finished work from a replica; its next work begins. */
export function unassign(state: StreamTrainingState, replica: Replica, work: Work, at: number): void {
  state.works.delete(work.fetchId);
  replica.works.splice(replica.works.indexOf(work), 1);
  const next = replica.works[0];
  if (next !== undefined) next.startedSeconds ??= at;
  else if (replica.streams) state.idle += 1;
}

/** Decides the pass of the reference model before the gradients of some groups, if this pass is configured. */
export function referencePass(
  state: StreamTrainingState,
  round: Round,
  replica: Replica,
  { fetchId, groups }: Work,
  ctx: Ctx,
): void {
  if (state.config.reference === 'none' || groups.length === 0) return;
  const { at } = ctx;
  const { roundId } = round;
  const reason = () => ({ code: 'reference_pass', groups: groups.length }) as const;
  ctx.emit({ type: 'weights.swap', at, roundId, replica: replica.id, to: 'reference', reason: reason() });
  ctx.emit({
    type: 'reference.compute',
    at,
    roundId,
    fetchId,
    replica: replica.id,
    groups: groups.map(idOf),
    reason: reason(),
  });
  ctx.emit({ type: 'weights.swap', at, roundId, replica: replica.id, to: 'actor', reason: reason() });
}

/** Reloads the gradients of a replica before new gradients are added. */
export function reload(round: Round, replica: Replica, code: 'fetch' | 'finish', ctx: Ctx): void {
  if (replica.gradients !== 'offloaded') return;
  replica.gradients = 'resident';
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.reload', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}

/** Offloads the gradients of an idle replica to host memory. */
export function offload(round: Round, replica: Replica, code: 'idle' | 'gpus_returned', ctx: Ctx): void {
  if (replica.gradients !== 'resident' || replica.works.length > 0) return;
  replica.gradients = 'offloaded';
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.offload', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}

/** Puts groups back, which are trained before groups that were never fetched. */
export function requeue(
  round: Round,
  replica: Replica,
  groups: readonly Group[],
  reason: { code: RequeueCode; consumed: number; inFlight: number },
  ctx: Ctx,
): void {
  if (groups.length === 0) return;
  for (const group of groups) {
    round.again.push(group);
    round.waitingTokens += group.tokens;
  }
  ctx.emit({
    type: 'train.requeued',
    at: ctx.at,
    roundId: round.roundId,
    replica: replica.id,
    groups: groups.map(idOf),
    reason,
  });
}

/** Tells a present replica to stop, and to drop its gradients. */
export function discard(round: Round, replica: Replica, code: DiscardCode, ctx: Ctx): void {
  if (replica.works.length === 0 && replica.gradients === 'none') return;
  const reason = { code, groups: replica.consumed.length };
  ctx.emit({ type: 'gradients.discard', at: ctx.at, roundId: round.roundId, replica: replica.id, reason });
}

/** Weight of the newest interval between two completed groups. */
const gapWeight = 0.1;
/** Factor on the weight of older work when new work is measured. */
const paceMemory = 0.75;

/** Updates the rate of production by a completed group. */
export function measureGap(round: Round, at: number): void {
  if (round.lastSeconds !== null) {
    const gap = at - round.lastSeconds;
    round.gapSeconds = round.gapSeconds === null ? gap : round.gapSeconds + gapWeight * (gap - round.gapSeconds);
  }
  round.lastSeconds = at;
}

/** Updates the rates of consumption by finished work. Work without tokens or seconds is ignored. */
export function measurePace(state: StreamTrainingState, replica: Replica, tokens: number, seconds: number): void {
  if (tokens === 0 || seconds === 0) return;
  for (const pace of [replica, state]) {
    pace.paceSeconds = paceMemory * pace.paceSeconds + seconds;
    pace.paceTokens = paceMemory * pace.paceTokens + tokens;
  }
}

/**
 * Returns the seconds per token of a replica; those of all replicas if it was never measured; `undefined` before any measurement.
 */
export function secondsPerToken(state: StreamTrainingState, replica: Replica): number | undefined {
  // Short responses take longer per token, so with `replica`, chance differences in length look like differences in speed.
  const pace = replica.paceTokens > 0 && state.config.pace === 'replica' ? replica : state;
  return pace.paceTokens > 0 ? pace.paceSeconds / pace.paceTokens : undefined;
}

/** Returns the seconds that a replica still needs for its work. */
export function busySeconds(replica: Replica, perToken: number, at: number): number {
  let seconds = 0;
  for (const work of replica.works) {
    const ran = work.startedSeconds === null ? 0 : at - work.startedSeconds;
    seconds += Math.max(0, work.tokens * perToken - ran);
  }
  return seconds;
}

/** Returns the expected seconds until all groups of the round are complete, or `undefined` before any interval is measured. */
export function restSeconds(round: Round, groupsPerRound: number): number | undefined {
  if (round.gapSeconds === null) return undefined;
  return Math.max(0, groupsPerRound - round.groups.size) * round.gapSeconds;
}

/**
 * Spreads jobs over workers so that all workers end at about the same time: longest job first, each on the worker where it ends
 * earliest.
 */
