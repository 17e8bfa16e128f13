/** What a snapshot holds. What can be derived (loads, lines, heaps, groups) is not in it but built again. */
import { z } from 'zod';
import { LinkedList } from '../../core/linked-list.ts';
import { rewardBudgetSeconds, rewardKind } from '../../schemas/reward-workers.ts';
import { dispatchIdOf, milliseconds } from './dispatches.ts';
import { setActive } from './pool.ts';
import { attach } from './samples.ts';
import type { RewardDispatchConfig } from './schema.ts';
import { type Dispatch, newState, type RewardState, type Sample } from './state.ts';

const noPlace = { heapIndex: -1, previous: null, next: null };
const whole = z.int().nonnegative();
const time = z.number();

const sampleSchema = z.strictObject({
  requestId: z.string(),
  promptId: z.string().nullable(),
  kind: rewardKind,
  budgetSeconds: rewardBudgetSeconds,
  seq: whole,
  requestedAt: time,
  since: time,
  cause: z.enum(['requested', 'retry_infrastructure', 'retry_timeout', 'host_restarted']),
  failures: whole,
  timeouts: whole,
  attempts: whole,
  dispatch: whole.nullable().describe('Number of the dispatch that computes it.'),
  final: z.boolean().describe('Whether a completed round trains on it.'),
  round: z.string().nullable().describe('Id of the round that it leaves with.'),
});
const dispatchSchema = z.strictObject({
  number: whole,
  requestId: z.string(),
  worker: z.string(),
  budgetSeconds: rewardBudgetSeconds,
  dispatchedAt: time,
  started: z.boolean(),
  deadline: time,
});
const workerSchema = z.strictObject({
  id: z.string(),
  kind: rewardKind,
  slots: z.int().positive(),
  active: z.boolean(),
});

/** Schema of the saved state. */
export const rewardSnapshot = z
  .strictObject({
    samples: z.array(sampleSchema),
    dispatches: z.array(dispatchSchema),
    workers: z.array(workerSchema),
    saturated: z.strictObject({ rule: z.boolean(), sandbox: z.boolean(), judge: z.boolean() }),
    timerAt: time.nullable(),
    seq: whole,
    nextDispatch: whole,
    prefix: z.string(),
    oldPrefixes: z.array(z.string()),
  })
  .superRefine((saved, context) => {
    const workers = new Set(saved.workers.map((one) => one.id));
    const dispatches = new Set(saved.dispatches.map((one) => one.number));
    saved.dispatches.forEach(({ worker }, index) => {
      if (workers.has(worker)) return;
      context.addIssue({ code: 'custom', path: ['dispatches', index, 'worker'], message: 'a worker of the snapshot' });
    });
    saved.samples.forEach(({ dispatch }, index) => {
      if (dispatch === null || dispatches.has(dispatch)) return;
      context.addIssue({ code: 'custom', path: ['samples', index, 'dispatch'], message: 'a dispatch of the snapshot' });
    });
  });
export type SavedRewards = z.output<typeof rewardSnapshot>;

/** The whole state as JSON, sharing nothing with it. */
export function save(state: RewardState): SavedRewards {
  const { pools, timerAt, seq, nextDispatch, prefix } = state;
  return {
    samples: [...state.samples.values()].map(saveSample),
    dispatches: [...state.dispatches.values()].map(saveDispatch),
    workers: [...state.workers.values()].map(({ id, pool, slots, active }) => ({ id, kind: pool.kind, slots, active })),
    saturated: { rule: pools.rule.saturated, sandbox: pools.sandbox.saturated, judge: pools.judge.saturated },
    timerAt,
    seq,
    nextDispatch,
    prefix,
    oldPrefixes: [...state.oldPrefixes],
  };
}

function saveSample(sample: Sample): SavedRewards['samples'][number] {
  const { requestId, promptId, kind, budgetSeconds, seq, requestedAt, since, cause } = sample;
  const { failures, timeouts, attempts, final } = sample;
  return {
    ...{ requestId, promptId, kind, budgetSeconds, seq, requestedAt, since, cause, failures, timeouts, attempts },
    dispatch: sample.dispatch?.number ?? null,
    final,
    round: sample.round?.id ?? null,
  };
}

function saveDispatch(dispatch: Dispatch): SavedRewards['dispatches'][number] {
  const { number, requestId, budgetSeconds, dispatchedAt, started, deadline } = dispatch;
  return { number, requestId, worker: dispatch.worker.id, budgetSeconds, dispatchedAt, started, deadline };
}

/** The state that was saved, sharing nothing with what is given. */
export function load(saved: SavedRewards, config: RewardDispatchConfig): RewardState {
  const { timerAt, seq, nextDispatch, prefix, oldPrefixes } = saved;
  const state: RewardState = {
    ...newState(config),
    ...{ timerAt, seq, nextDispatch, prefix, oldPrefixes: [...oldPrefixes] },
  };
  for (const { id, kind, slots } of saved.workers) {
    const pool = state.pools[kind];
    state.workers.set(id, { id, pool, slots, active: false, running: new LinkedList(), assignedMs: 0, heapIndex: -1 });
  }
  const byNumber = new Map<number, Dispatch>();
  for (const { worker: workerId, ...rest } of saved.dispatches) {
    const worker = state.workers.get(workerId)!;
    const dispatch: Dispatch = { ...rest, id: dispatchIdOf(prefix, rest.number), sample: null, worker, ...noPlace };
    byNumber.set(rest.number, dispatch);
    state.dispatches.set(dispatch.id, dispatch);
    state.deadlines.update(dispatch);
    worker.running.push(dispatch);
    worker.assignedMs += milliseconds(dispatch.budgetSeconds);
  }
  for (const { id, active } of saved.workers) setActive(state.workers.get(id)!, active);
  for (const one of saved.samples) loadSample(state, one, byNumber);
  for (const kind of ['rule', 'sandbox', 'judge'] as const) state.pools[kind].saturated = saved.saturated[kind];
  return state;
}

function loadSample(
  state: RewardState,
  saved: SavedRewards['samples'][number],
  byNumber: ReadonlyMap<number, Dispatch>,
): void {
  const { dispatch: number, round, ...rest } = saved;
  const places = { placeInPrompt: -1, placeInRound: -1, ...noPlace };
  const sample: Sample = { ...rest, dispatch: null, prompt: null, round: null, ...places };
  state.samples.set(sample.requestId, sample);
  if (round !== null) attach(state, sample, round);
  const dispatch = number === null ? undefined : byNumber.get(number);
  if (dispatch !== undefined) {
    sample.dispatch = dispatch;
    dispatch.sample = sample;
  } else if (sample.cause === 'requested') {
    state.pools[sample.kind].fresh.push(sample);
  } else {
    state.pools[sample.kind].again.update(sample);
  }
}

/** Version 1 did not say what a completed round trains on; an event that named it could still take it away. */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as { samples?: ({ final?: unknown } | null)[] } | null;
  if (!Array.isArray(saved?.samples)) return saved;
  for (const sample of saved.samples) if (sample !== null && typeof sample === 'object') sample.final ??= false;
  return saved;
}
