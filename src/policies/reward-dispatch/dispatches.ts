/**
 * Handles responses and their tries on workers: they are queued, dispatched, cancelled and taken out, also when their prompt or round is
 * over (slime #2176), so that nothing waits for a slow judge.
 */
import { mintedAs } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { RewardKind } from '../../schemas/reward-workers.ts';
import {
  attach,
  beginSingle,
  countLive,
  detach,
  isUntroubled,
  milliseconds,
  named,
  nextTry,
  occupy,
  openFailures,
  putInLine,
  reheap,
  reportPressure,
  takeFromLine,
} from './pool.ts';
import { kindOfDomain } from './schema.ts';
import type { Ctx, Dispatch, Pool, RewardState, Sample, Worker } from './state.ts';

/** Ids of dispatches. */
export const dispatchIds = mintedAs('reward/', 'nextDispatch');

export function checkDispatch(state: RewardState, { dispatchId }: { readonly dispatchId: string }): void {
  dispatchIds.check(state, 'dispatchId', dispatchId, 'the id of a dispatch that was made', state.dispatches);
}

/** Gives every free slot to the response that was requested first, and tells the host of long queues. */
export function fillPools(state: RewardState, pools: readonly Pool[], ctx: Ctx): void {
  for (const pool of pools) {
    fill(state, pool, ctx);
    reportPressure(state, pool, ctx);
  }
  state.restarted = false;
}

function fill(state: RewardState, pool: Pool, ctx: Ctx): void {
  if (!isUntroubled(pool)) return fillTroubled(state, pool, ctx);
  for (let worker = pool.open.peek(); worker !== undefined; worker = pool.open.peek()) {
    const sample = pool.again.peek() ?? pool.fresh.peek();
    if (sample === undefined) return;
    takeFromLine(pool, sample);
    start(state, sample, worker, ctx);
  }
}

/** Does the same while dispatches fail, or responses are suspected. */
function fillTroubled(state: RewardState, pool: Pool, ctx: Ctx): void {
  if (pool.queued > 0) {
    for (let next = nextTry(state, pool, ctx.at); next !== undefined; next = nextTry(state, pool, ctx.at)) {
      takeFromLine(pool, next.sample);
      start(state, next.sample, next.worker, ctx);
    }
  }
  pool.faults.dropDue(ctx.at);
}

function start(state: RewardState, sample: Sample, worker: Worker, ctx: Ctx): void {
  const { budgetSeconds, requestId } = sample;
  const number = state.nextDispatch;
  const dispatch: Dispatch = {
    id: dispatchIds.mint(state),
    number,
    requestId,
    workerId: worker.id,
    budgetSeconds,
    dispatchedAt: ctx.at,
    started: false,
    deadline: ctx.at + budgetSeconds + state.config.answerGraceSeconds,
    cancelled: false,
    sample,
    worker,
    heapIndex: -1,
    previous: null,
    next: null,
  };
  const reason = reasonOf(state, sample, dispatch, ctx.at);
  const { id: dispatchId, workerId } = dispatch;
  const { promptId, kind } = sample;
  const { at } = ctx;
  sample.dispatch = dispatch;
  sample.attempts += 1;
  sample.lastDispatch = number;
  state.dispatches.set(dispatchId, dispatch);
  occupy(state, dispatch);
  reheap(worker);
  // The fields are written out twice, because a spread costs more than the rest of the decision.
  ctx.emit(
    promptId === null
      ? { type: 'reward.dispatch', at, dispatchId, workerId, requestId, kind, budgetSeconds, reason }
      : { type: 'reward.dispatch', at, dispatchId, workerId, requestId, promptId, kind, budgetSeconds, reason },
  );
}

function reasonOf(
  state: RewardState,
  sample: Sample,
  { id, worker }: Dispatch,
  at: number,
): Message<'reward.dispatch'>['reason'] {
  const { cause: code } = sample;
  const waitedSeconds = at - sample.since;
  const { running: all, pool } = worker;
  const running = all.size;
  const { retry } = state.config;
  const single = isUntroubled(pool) ? undefined : beginSingle(pool, sample, worker, id, at);
  if (single !== undefined) return { waitedSeconds, running, ...single };
  if (code === 'retry_infrastructure') {
    const attempt = sample.failures + openFailures(pool, sample);
    const pauseSeconds = at - sample.failedAt!;
    const where = pool.faults.named({ scope: 'reward', id: sample.failedOn });
    return { code, waitedSeconds, running, attempt, budget: retry.infrastructure, pauseSeconds, ...where };
  }
  if (code === 'retry_timeout') {
    return { code, waitedSeconds, running, attempt: sample.timeouts, budget: retry.timeout };
  }
  return { code, waitedSeconds, running };
}

/** Cancels a dispatch, which keeps its slot until the cancellation is confirmed or its grace time is over. */
export function cancelDispatch(
  state: RewardState,
  dispatch: Dispatch,
  reason: Message<'reward.cancel'>['reason'],
  ctx: Ctx,
): void {
  const { id, workerId, requestId } = dispatch;
  dispatch.cancelled = true;
  countLive(dispatch.worker, -1);
  dispatch.sample = null;
  dispatch.deadline = ctx.at + state.config.cancelGraceSeconds;
  state.deadlines.update(dispatch);
  ctx.emit({ type: 'reward.cancel', at: ctx.at, dispatchId: id, workerId, requestId, reason });
}

/** Ends a dispatch, which frees its slot. */
export function release(state: RewardState, dispatch: Dispatch): void {
  const { worker } = dispatch;
  state.dispatches.delete(dispatch.id);
  if (!dispatch.cancelled) countLive(worker, -1);
  state.deadlines.remove(dispatch);
  worker.running.remove(dispatch);
  worker.assignedMs -= milliseconds(dispatch.budgetSeconds);
  reheap(worker);
}

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
  const { queued } = pool;
  if (isIn || queued < maxQueued || queued < maxQueued + Math.min(countAsides(state, pool), maxQueued)) return;
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
  putInLine(state.pools[kind], sample);
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

type CancelCode = Message<'reward.cancelled'>['reason']['code'];
type Named = readonly { readonly requestId: string }[];

/** Keeps the rewards of responses on which the round trains, and cancels the other rewards of the round. */
export function completeRound(state: RewardState, event: Message<'round.completed'>, ctx: Ctx): void {
  for (const prompt of event.prompts) {
    for (const { requestId } of prompt.responses) {
      const sample = state.samples.get(requestId);
      if (sample !== undefined) keep(state, sample);
    }
  }
  cancelRound(state, event.roundId, 'round_completed', ctx);
}

/** Cancels every reward that was requested in this round. */
export function cancelRound(state: RewardState, roundId: string, code: CancelCode, ctx: Ctx): void {
  for (const sample of state.rounds.get(roundId)?.members() ?? []) cancel(state, sample, code, ctx);
}

/** Cancels the listed responses, except those on which a completed round trains. */
export function cancelNamed(state: RewardState, named: Named, code: CancelCode, ctx: Ctx): void {
  for (const { requestId } of named) {
    const sample = state.samples.get(requestId);
    if (sample !== undefined && !sample.final) cancel(state, sample, code, ctx);
  }
}

/**
 * Handles a prompt that leaves a round: cancels the responses that the event names, and the responses that were requested for the
 * prompt in that round. Other responses are not cancelled, because the prompt may have been drawn again while it was still in an
 * earlier round.
 */
export function promptLeft(
  state: RewardState,
  { promptId, roundId, dropped }: { promptId: string; roundId: string; dropped: Named },
  code: CancelCode,
  ctx: Ctx,
): void {
  cancelNamed(state, dropped, code, ctx);
  for (const sample of state.prompts.get(promptId)?.members() ?? []) {
    if (sample.roundId === roundId) cancel(state, sample, code, ctx);
  }
}

/** Does the same for a prompt that leaves with kept responses, whose rewards are requested again when the prompt comes back. */
export function promptAway(
  state: RewardState,
  { prompt, roundId, dropped }: { prompt: Prompt; roundId: string; dropped: Named },
  code: CancelCode,
  ctx: Ctx,
): void {
  const named = prompt.kept === undefined ? dropped : [...dropped, ...prompt.kept];
  promptLeft(state, { promptId: prompt.promptId, roundId, dropped: named }, code, ctx);
}
