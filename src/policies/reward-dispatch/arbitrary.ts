/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { RewardDispatchEvent } from '../../generated/settings/reward-dispatch.ts';
import { dispatchIds } from './dispatches.ts';
import { deadlines } from './faults.ts';
import { kinds, type RewardState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: RewardState, choices: Choices): RewardDispatchEvent {
  const at = choices.below(6) === 0 ? choices.below(300) : state.seq + choices.below(8);
  const roll = choices.below(20);
  if (state.workers.size === 0 && roll < 8) return workerEvent(at, choices);
  if (roll < 7) return wanted(state, at, choices);
  if (roll < 14) return finished(state, at, choices);
  if (roll < 16) return workerEvent(at, choices);
  if (roll < 18) return { type: 'timer.fired', at: at + 10 * choices.below(5), timerId: deadlines.timerId };
  return left(state, at, choices);
}

function wanted(state: RewardState, at: number, choices: Choices): RewardDispatchEvent {
  const promptId = `p${choices.below(6)}`;
  // Sometimes the response is here already.
  const known = choices.below(8) === 0 ? pick([...state.samples.keys()], choices) : undefined;
  const requestId = known ?? `${promptId}/0#${state.seq}`;
  switch (choices.below(6)) {
    case 0:
      return { type: 'reward.request', at, requestId, promptId, reason: { code: 'kept_without_reward' } };
    case 1:
    case 2: {
      const reason = { code: 'held', held: 1, needed: 2 } as const;
      const domain = choices.below(2) === 0 ? { domain: 'code' } : {};
      return { type: 'response.accepted', at, requestId, promptId, ...domain, reason };
    }
    case 3:
      return { type: 'reward.requested', at, requestId };
    default:
      return {
        type: 'reward.requested',
        at,
        requestId,
        promptId,
        roundId: `r${choices.below(3)}`,
        kind: kinds[choices.below(3)]!,
        budgetSeconds: 0.1 * (1 + choices.below(40)),
      };
  }
}

function finished(state: RewardState, at: number, choices: Choices): RewardDispatchEvent {
  const prefix = choices.below(2) === 0 ? state.prefix : (state.oldPrefixes[0] ?? '');
  const past = dispatchIds.of({ ...state, prefix }, choices.below(30));
  const live = choices.below(8) === 0 ? undefined : pick([...state.dispatches.values()], choices);
  const dispatchId = live?.id ?? past;
  const seconds = choices.below(30) / 4;
  switch (choices.below(live?.sample === null ? 5 : 10)) {
    case 0:
      return { type: 'reward.started', at, dispatchId };
    case 1:
    case 2:
      return { type: 'reward.finished', at, dispatchId, outcome: 'cancelled', seconds };
    case 3:
      return { type: 'reward.finished', at, dispatchId, outcome: 'timeout', seconds };
    case 5:
      return { type: 'reward.finished', at, dispatchId, outcome: 'infrastructure', seconds };
    default:
      return { type: 'reward.finished', at, dispatchId, outcome: 'scored', reward: choices.below(3) - 1, seconds };
  }
}

function workerEvent(at: number, choices: Choices): RewardDispatchEvent {
  const number = choices.below(5);
  const workerId = `w${number}`;
  switch (choices.below(8)) {
    case 0:
      return { type: 'reward-worker.drained', at, workerId };
    case 1:
      return { type: 'reward-worker.lost', at, workerId };
    default: {
      // A response rarely has another kind than before.
      const kind = kinds[(choices.below(12) === 0 ? number + 1 : number) % 3]!;
      return { type: 'reward-worker.added', at, workerId, kind, slots: 1 + choices.below(3) };
    }
  }
}

function left(state: RewardState, at: number, choices: Choices): RewardDispatchEvent {
  const sample = pick([...state.samples.values()], choices);
  const promptId = sample?.promptId ?? `p${choices.below(6)}`;
  const requestId = sample?.requestId ?? 'nobody';
  const roundId = choices.below(2) === 0 ? `r${choices.below(3)}` : (sample?.roundId ?? 'r0');
  switch (choices.below(12)) {
    case 0:
      return { type: 'reward.withdrawn', at, requestId };
    case 1:
      return { type: 'round.failed', at, roundId };
    case 2:
    case 3: {
      const response = { requestId, index: 0, tokens: 1, weightVersions: [0] };
      const reason = { code: 'quota_reached', counted: 1, needed: 1 } as const;
      const prompts = [{ promptId, responses: [response] }];
      const rest = { kind: 'short', weightVersion: 0, openedSeconds: 0, deferred: 0 } as const;
      return { type: 'round.completed', at, roundId, ...rest, prompts, reason };
    }
    case 4: {
      const dropped = [{ requestId, tokens: 1, cause: 'stale_weights' } as const];
      const reason = { code: 'round_completed', held: 1, needed: 2 } as const;
      return { type: 'prompt.deferred', at, prompt: { promptId }, roundId, dropped, reason };
    }
    case 5: {
      const kept = [{ requestId, index: 0, tokens: 1, weightVersions: [0], finished: true }];
      const reason = { code: 'quota_filled', held: 1, needed: 2 } as const;
      return { type: 'prompt.deferred', at, prompt: { promptId, kept }, roundId, dropped: [], reason };
    }
    case 6: {
      const reason = { code: 'round_failed' } as const;
      return { type: 'prompt.returned', at, prompt: { promptId }, roundId, dropped: [], reason };
    }
    case 7:
      return { type: 'prompt.filtered', at, promptId, roundId, dropped: [], reason: { code: 'host' } };
    case 8: {
      const reason = { code: 'data', failures: 2, budget: 1 } as const;
      return { type: 'prompt.failed', at, promptId, roundId, dropped: [], reason };
    }
    case 9: {
      const dropped = [{ requestId, tokens: 1, cause: 'merged' } as const];
      return { type: 'prompt.merged', at, promptId, roundId, dropped, reason: { code: 'already_in_round' } };
    }
    case 10: {
      const reason = { code: 'beyond_round', needed: 2 } as const;
      return { type: 'response.dropped', at, requestId, promptId, tokens: 1, finished: true, reason };
    }
    default:
      return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
  }
}
