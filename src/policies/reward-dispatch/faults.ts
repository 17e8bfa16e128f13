import { Deadlines, onlyTimer } from '../../core/rollout/deadlines.ts';
import {
  type FaultDomain,
  itemsToSuspend,
  longestPauseSeconds,
  type Verdict,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import {
  type Account,
  afterFailure,
  afterVerdict,
  notCompared,
  suspendFailing,
  type TriesOf,
} from '../../core/rollout/tries.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { cancelDispatch, checkDispatch, end, fillPools, release } from './dispatches.ts';
import {
  busyPools,
  domainOf,
  drain,
  isSuspect,
  isSuspended,
  named,
  noteAside,
  openFailures,
  putInLine,
  queueAgain,
  reheap,
  runsAlone,
  takeFromLine,
  whole,
} from './pool.ts';
import { type Ctx, type Dispatch, kinds, type Pool, type RewardState, type Sample, type Worker } from './state.ts';

/** Starts the budget of a dispatch; only the first report counts. */
export function started(state: RewardState, { dispatchId }: Message<'reward.started'>, ctx: Ctx): void {
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch === undefined || dispatch.sample === null) {
    ctx.emit({ type: 'reward.late', at: ctx.at, dispatchId, reason: { code: 'report' } });
  } else if (!dispatch.started) {
    dispatch.started = true;
    dispatch.deadline = ctx.at + dispatch.budgetSeconds + state.config.answerGraceSeconds;
    state.deadlines.update(dispatch);
  }
}

export function checkFinished(state: RewardState, event: Message<'reward.finished'>): void {
  checkDispatch(state, event);
  const { outcome, reward } = event;
  if ((outcome === 'scored') === (reward !== undefined)) return;
  const expected = outcome === 'scored' ? 'a reward with `scored`' : `no reward with \`${outcome}\``;
  refuse('invalid_event', 'reward', expected, reward);
}

export function finished(state: RewardState, event: Message<'reward.finished'>, ctx: Ctx): void {
  const { dispatchId, outcome, reward, seconds } = event;
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch !== undefined) release(state, dispatch);
  const sample = dispatch?.sample;
  if (dispatch === undefined || sample === null || sample === undefined) {
    // A confirmed cancellation needs no notice.
    if (dispatch !== undefined && outcome === 'cancelled') return;
    ctx.emit({
      type: 'reward.late',
      at: ctx.at,
      dispatchId,
      ...(reward === undefined ? undefined : { reward }),
      reason: { code: dispatch === undefined ? 'result' : 'after_cancel', seconds },
    });
  } else if (outcome === 'scored') {
    const reason = { code: 'scored', seconds, attempts: sample.attempts } as const;
    answered(state, sample, dispatch, ctx);
    score(state, sample, dispatch, reward!, reason, ctx);
  } else if (outcome === 'timeout') {
    // A worker that reports a time-out works.
    answered(state, sample, dispatch, ctx);
    timedOut(state, sample, dispatch, seconds, ctx);
  } else {
    // The worker has cancelled without being asked, which is a fault of the worker.
    fault(state, sample, dispatch, ctx);
  }
}

function score(
  state: RewardState,
  sample: Sample,
  { workerId }: Dispatch,
  reward: number,
  reason: Message<'reward.scored'>['reason'],
  ctx: Ctx,
): void {
  const { requestId, promptId, kind } = sample;
  const { at } = ctx;
  ctx.emit(
    promptId === null
      ? { type: 'reward.scored', at, requestId, kind, workerId, reward, reason }
      : { type: 'reward.scored', at, requestId, promptId, kind, workerId, reward, reason },
  );
  end(state, sample);
}

/** Handles a response whose reward took too long, through no fault of the worker. */
function timedOut(state: RewardState, sample: Sample, dispatch: Dispatch, seconds: number, ctx: Ctx): void {
  const { onTimeout, timeoutReward, retry } = state.config;
  const { budgetSeconds } = dispatch;
  const timeouts = ++sample.timeouts;
  if (timeouts <= retry.timeout) {
    queueAgain(state, sample, 'retry_timeout', ctx.at);
  } else if (onTimeout === 'reward') {
    score(state, sample, dispatch, timeoutReward, { code: 'timeout', seconds, budgetSeconds, timeouts }, ctx);
  } else {
    const reason = { code: 'timeout', timeouts, budget: retry.timeout } as const;
    fail(state, sample, reason, ctx);
  }
}

/** Cancels and retries a dispatch that was not answered in time; ends a cancellation that was not confirmed in time. */
function expire(state: RewardState, overdue: Dispatch, ctx: Ctx): void {
  const { answerGraceSeconds, cancelGraceSeconds } = state.config;
  const { sample, id: dispatchId, workerId, requestId, budgetSeconds } = overdue;
  if (sample === null) {
    release(state, overdue);
    const reason = { code: 'cancel_unconfirmed', graceSeconds: cancelGraceSeconds } as const;
    ctx.emit({ type: 'reward.expired', at: ctx.at, dispatchId, workerId, requestId, reason });
    return;
  }
  const ranSeconds = ctx.at - overdue.dispatchedAt;
  const reason = { code: 'no_answer', ranSeconds, budgetSeconds, graceSeconds: answerGraceSeconds } as const;
  cancelDispatch(state, overdue, reason, ctx);
  fault(state, sample, overdue, ctx);
}

/** Returns the earliest end of a pause, of a retry or between single tries, in seconds, if something waits for it. */
function pauseEndsAt(state: RewardState): number | undefined {
  const { pools, config } = state;
  let first: number | undefined;
  for (const kind of kinds) {
    const pool = pools[kind];
    if (pool.queued === 0) continue;
    const aside = firstAside(state, pool);
    const all = [
      pool.pauses.peek()?.pausedUntil,
      pool.faults.isQuiet ? undefined : pool.faults.nextTryAt(),
      aside && aside.at + config.retry.giveUpSeconds!,
    ];
    for (const one of all) if (one != null && (first === undefined || one < first)) first = one;
  }
  return first;
}

/** Two kinds of deadlines: workers must have answered, and pauses of retries end. */
export const deadlines = new Deadlines<RewardState>({
  ...onlyTimer,
  timerId: 'reward-dispatch/deadline',
  first: (state) => {
    const answer = state.deadlines.peek()?.deadline;
    const pause = pauseEndsAt(state);
    return answer === undefined || pause === undefined ? (answer ?? pause) : Math.min(answer, pause);
  },
  reason: (state) => {
    const { config } = state;
    const next = state.deadlines.peek();
    const pause = pauseEndsAt(state);
    if (next === undefined || (pause !== undefined && pause < next.deadline)) {
      return { code: 'retry_pause', longestPauseSeconds };
    }
    const { sample, budgetSeconds } = next;
    return sample === null
      ? { code: 'reward_cancel_grace', graceSeconds: config.cancelGraceSeconds }
      : { code: 'reward_budget', budgetSeconds, graceSeconds: config.answerGraceSeconds };
  },
});

/** Runs at the end of every event. */
export function settle(state: RewardState, ctx: Ctx): void {
  for (
    let next = state.deadlines.peek();
    next !== undefined && next.deadline <= ctx.at;
    next = state.deadlines.peek()
  ) {
    expire(state, next, ctx);
  }
  const busy = busyPools(state);
  for (const pool of busy) settleFaults(state, pool, ctx);
  fillPools(state, busy, ctx);
  deadlines.arm(state, ctx);
}

/** The place of a failed dispatch. With a single worker there is nothing to compare, so the worker is not named. */
function whereOf(worker: Worker): Where {
  const { active, pool } = worker;
  return active ? pool.faults.placeIn(domainOf(worker), pool.activeWorkers > 1) : whole;
}

/** The failures of a response, beside its budget. */
const accountOf = ({ pools, config: { retry } }: RewardState, sample: Sample): Account => ({
  failures: sample.failures,
  open: openFailures(pools[sample.kind], sample),
  budget: retry.infrastructure,
  asideAt: sample.asideAt,
  giveUpSeconds: retry.giveUpSeconds,
});

/** Handles a failed try. The failure stays open until other tries show whether it was the response's own. */
export function fault(state: RewardState, sample: Sample, { worker, id }: Dispatch, ctx: Ctx): void {
  const { requestId: item } = sample;
  const { faults } = worker.pool;
  sample.failed += 1;
  sample.failedOn = worker.id;
  sample.failedAt = ctx.at;
  const which = { item, place: 0, kind: 'infrastructure', order: state.nextDispatch, isGood: false };
  faults.failed({ ...whereOf(worker), ...which }, id, ctx.at);
  faults.keepLatest(which, state.config.retry.infrastructure + 1);
  goOn(state, sample, ctx);
}

/**
 * Tries a response again after a failure, within its budget. A response beyond its budget is set aside until its failures are
 * judged.
 */
function goOn(state: RewardState, sample: Sample, ctx: Ctx): void {
  const pool = state.pools[sample.kind];
  const account = accountOf(state, sample);
  const next = afterFailure(account, ctx.at);
  if (next === 'over') return failOver(state, sample, ctx);
  if (next === 'not_compared') return fail(state, sample, notCompared(account, ctx.at), ctx);
  sample.dispatch = null;
  sample.cause = 'retry_infrastructure';
  sample.asideAt = next.asideAt;
  const isAside = next.asideAt !== null;
  const seconds = isAside ? longestPauseSeconds : pool.faults.pauseBefore('reward', sample.failed);
  sample.pausedUntil = null;
  sample.since = ctx.at;
  if (seconds > 0 && !isSuspended(pool)) putOff(sample, ctx.at, seconds);
  putInLine(pool, sample);
  if (isAside) noteAside(state, sample);
}

function putOff(sample: Sample, at: number, seconds: number): void {
  sample.pausedUntil = at + seconds;
  sample.since = at + seconds;
}

/** Ends a response without a reward. The response must be in no queue. */
export function fail(state: RewardState, sample: Sample, reason: Message<'reward.failed'>['reason'], ctx: Ctx): void {
  ctx.emit({ type: 'reward.failed', at: ctx.at, ...named(sample), reason });
  end(state, sample);
}

/** Ends a response whose proven failures exceed its budget. */
function failOver(state: RewardState, sample: Sample, ctx: Ctx): void {
  const { failures } = sample;
  fail(state, sample, { code: 'infrastructure', failures, budget: state.config.retry.infrastructure }, ctx);
}

/** Notes that a worker has answered, and charges or forgets earlier failures of other responses. */
export function answered(state: RewardState, sample: Sample, { worker, number }: Dispatch, ctx: Ctx): void {
  const { pool } = worker;
  const { faults } = pool;
  if (sample.losses > 0) {
    sample.losses = 0;
    pool.suspects.delete(sample);
  }
  if (faults.isQuiet) return;
  const { verdicts, hasRecovered } = faults.succeeded(domainOf(worker), sample.requestId, number, ctx);
  if (hasRecovered) {
    reheap(worker);
    for (const one of drain(pool, ctx.at, pool.parked, pool.pauses)) {
      // The failures of this response are judged first, by this success or by later ones.
      if (one.asideAt !== null) putOff(one, ctx.at, longestPauseSeconds);
      putInLine(pool, one);
    }
  }
  for (const one of verdicts) judge(state, one, ctx);
}

/** Charges a failure to its response, or forgets it. */
export function judge(state: RewardState, { failure, isOwn }: Verdict, ctx: Ctx): void {
  const sample = state.samples.get(failure.item);
  if (sample === undefined) return;
  if (isOwn) sample.failures += 1;
  else sample.failed = Math.max(0, sample.failed - 1);
  // A response that is being computed is judged by the end of its computation.
  if (sample.dispatch !== null) return;
  const next = afterVerdict(accountOf(state, sample), isOwn);
  if (next === 'waits') return;
  const pool = state.pools[sample.kind];
  takeFromLine(pool, sample);
  if (next === 'over') return failOver(state, sample, ctx);
  sample.asideAt = null;
  sample.pausedUntil = null;
  sample.since = Math.min(sample.since, ctx.at);
  putInLine(pool, sample);
}

/**
 * Dispatches again what a lost worker has computed. The loss costs a response nothing, unless the response ran alone because it
 * had lost three workers.
 */
export function workerLostUnder(state: RewardState, sample: Sample, { id }: Worker, ctx: Ctx): void {
  const pool = state.pools[sample.kind];
  const isAlone = runsAlone(pool, sample);
  sample.losses += 1;
  sample.failedOn = id;
  sample.failedAt = ctx.at;
  if (isSuspect(sample)) pool.suspects.add(sample);
  if (isAlone) {
    sample.failures += 1;
    goOn(state, sample, ctx);
  } else queueAgain(state, sample, 'retry_infrastructure', ctx.at);
}

/** Forgets the failures on a worker that takes no more dispatches, because nothing can be compared with them. */
export function forgetWorker(state: RewardState, worker: Worker, ctx: Ctx): void {
  const { faults } = worker.pool;
  if (faults.isQuiet) return;
  for (const one of faults.removeDomain(domainOf(worker), ctx)) judge(state, one, ctx);
}

/** Follows every event: suspends workers and kinds on which different responses fail in a row. */
export function settleFaults(state: RewardState, pool: Pool, ctx: Ctx): void {
  const { faults } = pool;
  if (!faults.isQuiet) {
    faults.dropTries(ctx.at, (_, id) => state.dispatches.get(id)?.cancelled !== false);
    suspendFailing(faults, rewardTries, { state, pool }, ctx);
  }
  endPauses(pool, ctx.at);
  endAsides(state, pool, ctx);
}

function* activeDomains({ workers }: RewardState, pool: Pool): Generator<Where> {
  for (const one of workers.values()) if (one.active && one.pool === pool) yield domainOf(one);
}

/** What is being tried on the workers of a kind. */
const rewardTries: TriesOf<{ readonly state: RewardState; readonly pool: Pool }, Ctx> = {
  order: ({ state }) => state.nextDispatch,
  inFlight: ({ state, pool }, domain) => liveIn(state, pool, domain),
  hasOther: ({ state, pool }, domain) => hasOther(state, pool, domain),
  parts: ({ state, pool }) => activeDomains(state, pool),
  suspended({ state, pool }, { id }, { at }) {
    if (id === null) for (const one of drain(pool, at, pool.again, pool.doubtful, pool.pauses)) putInLine(pool, one);
    const worker = id === null ? undefined : state.workers.get(id);
    if (worker !== undefined) reheap(worker);
  },
  judge: ({ state }, verdict, ctx) => judge(state, verdict, ctx),
};

const liveIn = ({ workers }: RewardState, pool: Pool, { id }: FaultDomain): number =>
  id === null ? pool.live : (workers.get(id)?.live ?? 0);

/** Whether a response that has not failed in a domain is being computed there, or is next in line. */
function hasOther(state: RewardState, pool: Pool, domain: FaultDomain): boolean {
  const { id, failing } = domain;
  if (failing.size >= itemsToSuspend) return false;
  let others = liveIn(state, pool, domain);
  for (const item of failing.keys()) {
    const dispatch = state.samples.get(item)?.dispatch;
    if (dispatch != null && (id === null || dispatch.workerId === id)) others -= 1;
  }
  const next = pool.again.peek();
  return others > 0 || pool.fresh.size > 0 || (next !== undefined && !failing.has(next.requestId));
}

function endPauses(pool: Pool, at: number): void {
  const { pauses } = pool;
  for (let next = pauses.peek(); next !== undefined && next.pausedUntil! <= at; next = pauses.peek()) {
    takeFromLine(pool, next);
    next.pausedUntil = null;
    putInLine(pool, next);
  }
}

/** Gives up responses that were set aside for as long as the configuration allows. */
function endAsides(state: RewardState, pool: Pool, ctx: Ctx): void {
  const { giveUpSeconds } = state.config.retry;
  if (giveUpSeconds === undefined) return;
  for (let first = firstAside(state, pool); first !== undefined; first = firstAside(state, pool)) {
    if (first.at + giveUpSeconds > ctx.at) return;
    takeFromLine(pool, first.sample);
    fail(state, first.sample, notCompared(accountOf(state, first.sample), ctx.at), ctx);
  }
}

/** Returns the response that was set aside first; entries that were tried or judged since leave the heap. */
export function firstAside({ samples }: RewardState, { asides }: Pool) {
  for (let first = asides.peek(); first !== undefined; first = asides.peek()) {
    const { sample, at } = first;
    if (sample.asideAt === at && sample.dispatch === null && samples.get(sample.requestId) === sample) return first;
    asides.pop();
  }
  return undefined;
}
