/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import { timerId, wasDispatch } from './dispatches.ts';
import { kindOf } from './samples.ts';
import { queued, type RewardState } from './state.ts';
import type { RewardEvent } from './words.ts';

type EventOf<T extends RewardEvent['type']> = Extract<RewardEvent, { type: T }>;

/** Refuses an event that does not fit. */
export function check(state: RewardState, event: RewardEvent): void {
  switch (event.type) {
    case 'reward.requested':
      checkRoom(state, event);
      return;
    case 'reward.started':
      checkDispatch(state, event.dispatchId);
      return;
    case 'reward.finished':
      checkDispatch(state, event.dispatchId);
      checkReward(event);
      return;
    case 'reward-worker.added': {
      const kind = state.workers.get(event.workerId)?.pool.kind;
      if (kind === undefined || kind === event.kind) return;
      return refuse('duplicate_id', 'kind', `${kind}, as ${event.workerId} was added before`, event.kind);
    }
    case 'reward-worker.drained':
    case 'reward-worker.lost':
      if (state.workers.has(event.workerId)) return;
      return refuse('unknown_id', 'workerId', 'a reward worker that was added', event.workerId);
    case 'timer.fired':
      if (event.timerId === timerId) return;
      return refuse('unknown_id', 'timerId', timerId, event.timerId);
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
    default:
  }
}

function checkRoom(state: RewardState, event: EventOf<'reward.requested'>): void {
  const kind = kindOf(state, event);
  const { maxQueued } = state.config;
  if (queued(state.pools[kind]) < maxQueued || state.samples.has(event.requestId)) return;
  refuse(
    'limit_exceeded',
    'requestId',
    `fewer than ${maxQueued} rewards of kind ${kind} waiting (maxQueued)`,
    event.requestId,
  );
}

function checkDispatch(state: RewardState, dispatchId: string): void {
  if (state.dispatches.has(dispatchId) || wasDispatch(state, dispatchId)) return;
  refuse('unknown_id', 'dispatchId', 'the id of a dispatch that was made', dispatchId);
}

function checkReward({ outcome, reward }: EventOf<'reward.finished'>): void {
  if ((outcome === 'scored') === (reward !== undefined)) return;
  refuse(
    'invalid_event',
    'reward',
    outcome === 'scored' ? 'a reward with `scored`' : `no reward with \`${outcome}\``,
    reward,
  );
}
