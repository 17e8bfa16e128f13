/** Likely next events of a rollout and its rewards, for property tests: late, wrong and repeated ones now and then. */
import type { Choices } from '../../../core/definition.ts';
import { pick } from '../../../core/pick.ts';
import type { CollectionState } from './state.ts';
import type { CollectionEvent } from './words.ts';

/** A likely next event. */
export function arbitrary(state: CollectionState, choices: Choices): CollectionEvent {
  const at = choices.below(200);
  const { generating, rounds, responses, config } = state;
  const all = [...responses.values()];
  const anyId = pick(all, choices)?.requestId ?? `p0/0#${choices.below(9)}`;
  const requestId = pick(
    all.filter((one) => !one.isCompleted),
    choices,
  )?.requestId;
  const waiting = pick(
    all.filter((one) => one.isCompleted && !one.isRewarded),
    choices,
  )?.requestId;
  switch (choices.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const group = pick([...generating.values()], choices);
      if (group === undefined) break;
      const index = choices.below(config.responsesPerPrompt + (choices.below(9) === 0 ? 1 : 0));
      const { promptId } = group.prompt;
      const { roundId } = choices.below(20) === 0 ? pick([...rounds.values()], choices)! : group.round;
      const id = `${promptId}/${index}#${choices.below(60)}`;
      return { type: 'request.arrived', at, requestId: id, promptId, roundId, index };
    }
    case 4:
      return { type: 'response.failed', at, requestId: requestId ?? anyId, kind: 'infrastructure' };
    case 5:
      if (choices.below(3) > 0) break;
      return { type: 'request.aborted', at, requestId: anyId };
    case 6:
    case 7:
    case 8: {
      if (choices.below(12) === 0) {
        const reason = { code: 'timeout', timeouts: 1, budget: 0 } as const;
        return { type: 'reward.failed', at, requestId: waiting ?? anyId, kind: 'rule', reason };
      }
      return { type: 'reward.ready', at, requestId: waiting ?? anyId, reward: choices.below(3) };
    }
    case 9:
      if (choices.below(6) > 0) break;
      return { type: 'response.completed', at, requestId: anyId, tokens: choices.below(60), weightVersions: [0, 1] };
  }
  return { type: 'response.completed', at, requestId: requestId ?? anyId, tokens: choices.below(60) };
}
