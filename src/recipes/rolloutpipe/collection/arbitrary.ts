/** Likely next events of a rollout and its rewards, for property tests: some of them late, wrong or repeated. */

import { type Choices, pick } from '../../../core/generators/choices.ts';
import type { EventOf } from '../../../core/machine/definition.ts';
import type { roundCollection } from './round-collection.ts';
import type { CollectionState } from './state.ts';

type CollectionEvent = EventOf<typeof roundCollection>;

/** Draws a likely next event. */
export function arbitrary(state: CollectionState, choices: Choices): CollectionEvent {
  const at = choices.below(200);
  const all = [...state.responses.values()];
  const anyId = pick(all, choices)?.requestId ?? `p0/0#${choices.below(9)}`;
  if (choices.below(9) === 0) return rare(anyId, choices, at);
  const running = pick(
    all.filter((one) => !one.isCompleted),
    choices,
  );
  const waiting = pick(
    all.filter((one) => one.isCompleted && !one.isRewarded),
    choices,
  );
  const group = pick([...state.generating.values()], choices);
  // Starts at a random kind of event, and takes the first one that is possible.
  const from = choices.below(3);
  for (let turn = from; turn < from + 3; turn += 1) {
    if (turn % 3 === 0 && waiting !== undefined) {
      return { type: 'reward.ready', at, requestId: waiting.requestId, reward: choices.below(3) };
    }
    if (turn % 3 === 1 && running !== undefined) {
      return { type: 'response.completed', at, requestId: running.requestId, tokens: choices.below(60) };
    }
    if (turn % 3 === 2 && group !== undefined) {
      const has = new Set([...group.responses.values()].map((one) => one.index));
      const free = Array.from({ length: state.config.responsesPerPrompt }, (_, at) => at).filter((at) => !has.has(at));
      const index = choices.below(9) === 0 ? choices.below(4) : (pick(free, choices) ?? 0);
      const { promptId } = group.prompt;
      const { roundId } = choices.below(20) === 0 ? pick([...state.rounds.values()], choices)! : group.round;
      const requestId = `${promptId}/${index}#${choices.below(60)}`;
      return { type: 'request.arrived', at, requestId, promptId, roundId, index };
    }
  }
  return { type: 'reward.ready', at, requestId: anyId, reward: 1 };
}

function rare(requestId: string, choices: Choices, at: number): CollectionEvent {
  const reason = { code: 'timeout', timeouts: 1, budget: 0 } as const;
  switch (choices.below(6)) {
    case 0:
      return { type: 'response.failed', at, requestId, kind: 'infrastructure' };
    case 1:
      return { type: 'request.aborted', at, requestId };
    case 2:
      return { type: 'reward.failed', at, requestId, kind: 'rule', reason };
    case 3: {
      const spent = { code: 'infrastructure', failures: 1, budget: 0 } as const;
      return { type: 'response.abandoned', at, requestId, promptId: 'p0', reason: spent };
    }
    case 4:
      return { type: 'response.completed', at, requestId, tokens: choices.below(60), weightVersions: [0, 1] };
    default:
      return { type: 'response.completed', at, requestId, tokens: choices.below(60) };
  }
}
