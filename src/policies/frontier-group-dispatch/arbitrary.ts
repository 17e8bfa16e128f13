/** Likely next events, for property tests: mostly usual ones, sometimes late, wrong or repeated ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { FrontierGroupDispatchEvent } from '../../generated/settings/frontier-group-dispatch.ts';
import type { Message } from '../../schemas/messages.ts';
import type { FrontierState } from './state.ts';

const held = { code: 'round_completed', counted: 1 } as const;

/** Draws a likely next event. */
export function arbitrary(state: FrontierState, choices: Choices): FrontierGroupDispatchEvent {
  const at = choices.below(200);
  const requests = [...state.requests.values()];
  const admitted = requests.filter((one) => one.status === 'admitted');
  const any = pick(requests, choices)?.requestId ?? `p${choices.below(9)}/0#${choices.below(50)}`;
  const requestId = pick(admitted, choices)?.requestId ?? any;
  const roundId = `r${Math.floor(state.seq / 6) - choices.below(2)}`;
  switch (choices.below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      return arrival(state, choices, roundId, at);
    case 7:
      return launch(state, choices, roundId, at);
    case 8:
      return { type: 'response.failed', at, requestId, kind: choices.below(2) === 0 ? 'infrastructure' : 'data' };
    case 9:
      return { type: 'request.abort', at, requestId: any, promptId: 'p0', reason: held };
    case 10:
      return { type: 'request.aborted', at, requestId: any };
    case 11: {
      const open = requests.find((one) => one.status === 'open')?.requestId ?? any;
      const reason = { code: 'infrastructure', failures: 1, budget: 0 } as const;
      return { type: 'response.abandoned', at, requestId: open, promptId: 'p0', reason };
    }
    case 12:
      return rare(state, choices, roundId, at);
    case 13: {
      if (choices.below(2) === 0) return { type: 'response.completed', at, requestId: any, tokens: choices.below(99) };
      const done = requests.find((one) => one.status === 'completed')?.requestId ?? any;
      if (choices.below(3) === 0) {
        const reason = { code: 'control', tokens: 9 } as const;
        return { type: 'response.surplus', at, requestId: done, promptId: 'p0', reason };
      }
      const reason = { code: 'no_reward' } as const;
      return { type: 'response.dropped', at, requestId: done, promptId: 'p0', tokens: 9, finished: true, reason };
    }
    case 14:
    case 15: {
      const groups = Array.from({ length: 1 + choices.below(3) }, (_, index) => `p${index}`);
      const seconds = choices.below(9);
      return { type: 'train.consumed', at, fetchId: 'f', replica: 'a', groups, samples: 4, tokens: 9, seconds };
    }
    default:
      return { type: 'response.completed', at, requestId, tokens: choices.below(99) };
  }
}

function arrival(state: FrontierState, choices: Choices, roundId: string, at: number): Message<'request.arrived'> {
  const group = choices.below(3) === 0 ? undefined : pick([...state.groups.values()], choices);
  const promptId = group?.promptId ?? `p${state.seq + choices.below(3)}`;
  const index = choices.below(state.config.responsesPerPrompt + (choices.below(4) === 0 ? 1 : 0));
  return {
    type: 'request.arrived',
    at,
    requestId: `${state.prefix}${promptId}/${index}#${choices.below(60)}`,
    promptId,
    roundId: group === undefined || choices.below(9) === 0 ? roundId : group.round.roundId,
    index,
    ...(choices.below(2) === 0 ? { order: choices.below(20) } : undefined),
  };
}

function launch(state: FrontierState, choices: Choices, roundId: string, at: number): Message<'request.launch'> {
  const { order: _, ...rest } = arrival(state, choices, roundId, at);
  return { ...rest, type: 'request.launch', weightVersion: 1, reason: { code: 'planned', inFlight: 0 } };
}

function rare(state: FrontierState, choices: Choices, recent: string, at: number): FrontierGroupDispatchEvent {
  const group = pick([...state.groups.values()], choices);
  const promptId = group?.promptId ?? 'p0';
  // Sometimes the event names another round than the group's.
  const roundId = choices.below(6) === 0 ? recent : (group?.round.roundId ?? recent);
  switch (choices.below(8)) {
    case 0:
      return { type: 'host.restarted', at, idPrefix: `h${choices.below(20)}-` };
    case 1:
      return { type: 'round.failed', at, roundId };
    case 2:
      return {
        type: 'round.completed',
        at,
        roundId,
        kind: 'short',
        weightVersion: 1,
        prompts: [],
        openedSeconds: 0,
        deferred: 0,
        reason: { code: 'quota_reached', counted: 1, needed: 1 },
      };
    case 3:
    case 4: {
      const reason = { code: 'responses_held', held: 1, launched: 2 } as const;
      return { type: 'prompt.collected', at, promptId, roundId, requestIds: [], reason };
    }
    case 5: {
      const reason = { code: 'round_completed', held: 0, needed: 1 } as const;
      return { type: 'prompt.deferred', at, prompt: { promptId }, roundId, dropped: [], reason };
    }
    default: {
      const reason = { code: 'data', failures: 1, budget: 0 } as const;
      return { type: 'prompt.failed', at, promptId, roundId, dropped: [], reason };
    }
  }
}
