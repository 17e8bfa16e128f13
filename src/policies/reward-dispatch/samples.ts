/** Queues responses for their rewards, and takes them out. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { RewardKind } from '../../schemas/reward-workers.ts';
import { cancelDispatch } from './dispatches.ts';
import type { Ctx } from './messages.ts';
import { named } from './pool.ts';
import { kindOfDomain } from './schema.ts';
import { attach, detach, type Pool, queued, type RewardState, type Sample, takeFromLine } from './state.ts';

/** A reward that is requested. */
interface Wanted {
  readonly requestId: string;
  readonly promptId?: string | undefined;
  readonly roundId?: string | undefined;
  readonly kind?: RewardKind | undefined;
  readonly domain?: string | undefined;
  readonly budgetSeconds?: number | undefined;
}

/** Returns the reward kind: the requested kind, otherwise that of the domain, otherwise the default. */
function kindOf({ config }: RewardState, { kind, domain }: Wanted): RewardKind {
  return kind ?? kindOfDomain(config, domain);
}

export function checkRoom(state: RewardState, event: Message<'reward.requested'>): void {
  const kind = kindOf(state, event);
  const { maxQueued } = state.config;
  const pool = state.pools[kind];
  const isIn = state.samples.has(event.requestId);
  if (isIn || queued(pool) < maxQueued || queued(pool) < maxQueued + Math.min(countAsides(state, pool), maxQueued))
    return;
  const expected = `fewer than ${maxQueued} rewards of kind ${kind} waiting (maxQueued)`;
  refuse('limit_exceeded', 'requestId', expected, event.requestId);
}

/** Counts responses that are set aside: if they took all the room, nothing could be compared with them. */
function countAsides({ samples }: RewardState, { faults }: Pool): number {
  let asides = 0;
  for (const item of faults.items) {
    const sample = samples.get(item);
    if (sample !== undefined && sample.dispatch === null && sample.asideAt !== null) asides += 1;
  }
  return asides;
}

/** Takes a response in. A response that is in already is not added again, because its reward is computed once. */
export function want(state: RewardState, wanted: Wanted, ctx: Ctx): void {
  const { requestId, promptId, roundId } = wanted;
  const known = state.samples.get(requestId);
  if (known !== undefined) {
    const reason = { code: 'already_requested', afterSeconds: ctx.at - known.requestedAt } as const;
    ctx.emit({ type: 'reward.merged', at: ctx.at, requestId, reason });
    return;
  }
  const kind = kindOf(state, wanted);
  const sample: Sample = {
    requestId,
    promptId: promptId ?? null,
    kind,
    budgetSeconds: wanted.budgetSeconds ?? state.config.budgetSeconds[kind],
    seq: state.seq++,
    requestedAt: ctx.at,
    since: ctx.at,
    cause: 'requested',
    failures: 0,
    failed: 0,
    timeouts: 0,
    losses: 0,
    failedOn: null,
    failedAt: null,
    pausedUntil: null,
    asideAt: null,
    lastDispatch: 0,
    attempts: 0,
    final: false,
    roundId: null,
    dispatch: null,
    indexInPrompt: -1,
    indexInRound: -1,
    heapIndex: -1,
    previous: null,
    next: null,
  };
  state.samples.set(requestId, sample);
  if (roundId !== undefined) attach(state, sample, roundId);
  state.pools[kind].fresh.push(sample);
}

/** Removes a response completely. */
export function end(state: RewardState, sample: Sample): void {
  const { requestId, kind } = sample;
  const { faults, suspects } = state.pools[kind];
  state.samples.delete(requestId);
  detach(state, sample);
  if (!faults.isQuiet) faults.forget(requestId);
  suspects.delete(sample);
}

/** Keeps a reward for a completed round that trains on the response: from now on nothing cancels the reward. */
export function keep(state: RewardState, sample: Sample): void {
  sample.final = true;
  detach(state, sample);
}

/** Cancels a reward that is no longer needed. */
export function cancel(
  state: RewardState,
  sample: Sample,
  code: Message<'reward.cancelled'>['reason']['code'],
  ctx: Ctx,
): void {
  const afterSeconds = ctx.at - sample.requestedAt;
  const { dispatch } = sample;
  ctx.emit({ type: 'reward.cancelled', at: ctx.at, ...named(sample), reason: { code, afterSeconds } });
  if (dispatch === null) takeFromLine(state.pools[sample.kind], sample);
  else cancelDispatch(state, dispatch, { code, afterSeconds }, ctx);
  end(state, sample);
}
