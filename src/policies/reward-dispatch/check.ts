/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/prefix.ts';
import { PolicyError } from '../../errors.ts';
import { timerId, wasMinted } from './dispatches.ts';
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
      const expected = `${kind}, as ${event.workerId} was added before`;
      throw new PolicyError('duplicate_id', { expected, got: event.kind, path: 'kind' });
    }
    case 'reward-worker.drained':
    case 'reward-worker.lost':
      if (state.workers.has(event.workerId)) return;
      throw new PolicyError('unknown_id', {
        expected: 'a reward worker that was added',
        got: event.workerId,
        path: 'workerId',
      });
    case 'timer.fired':
      if (event.timerId === timerId) return;
      throw new PolicyError('unknown_id', { expected: timerId, got: event.timerId, path: 'timerId' });
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
    default:
  }
}

function checkRoom(state: RewardState, event: EventOf<'reward.requested'>): void {
  const kind = kindOf(state, event);
  const { maxQueued } = state.config;
  if (queued(state.pools[kind]) < maxQueued || state.samples.has(event.requestId)) return;
  throw new PolicyError('limit_exceeded', {
    expected: `fewer than ${maxQueued} rewards of kind ${kind} waiting (maxQueued)`,
    got: event.requestId,
    path: 'requestId',
  });
}

function checkDispatch(state: RewardState, dispatchId: string): void {
  if (state.dispatches.has(dispatchId) || wasMinted(state, dispatchId)) return;
  throw new PolicyError('unknown_id', {
    expected: 'the id of a dispatch that was made',
    got: dispatchId,
    path: 'dispatchId',
  });
}

function checkReward({ outcome, reward }: EventOf<'reward.finished'>): void {
  if ((outcome === 'scored') === (reward !== undefined)) return;
  throw new PolicyError('invalid_event', {
    expected: outcome === 'scored' ? 'a reward with `scored`' : `no reward with \`${outcome}\``,
    got: reward,
    path: 'reward',
  });
}
