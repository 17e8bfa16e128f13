/** Likely next events, for property tests: the usual ones often, repeated and odd ones now and then. */
import type { Choices } from '../../core/definition.ts';
import { pick } from '../../core/pick.ts';
import type { AssemblyState } from './state.ts';
import type { AssemblyEvent, EventNamed } from './words.ts';

/** A likely next event. */
export function arbitrary(state: AssemblyState, choices: Choices): AssemblyEvent {
  const at = choices.below(200);
  const promptId = `p${choices.below(8)}`;
  const roundId = `r${choices.below(3)}`;
  const awaited = [...state.byRequest.values()].filter((member) => member.reward === undefined);
  const requestId = pick(awaited, choices)?.requestId ?? `${promptId}/0#${choices.below(50)}`;
  const open = state.open.get(promptId);
  if (choices.below(40) === 0) return { type: 'round.failed', at, roundId };
  if (choices.below(40) === 0) return { type: 'host.restarted', at, idPrefix: `h${choices.below(1000)}-` };
  switch (choices.below(12)) {
    case 0:
    case 1:
    case 2: {
      const reason = { code: 'held', held: 1, needed: 2 } as const;
      return {
        type: 'response.accepted',
        at,
        requestId: `${promptId}/${choices.below(3)}#${choices.below(50)}`,
        promptId,
        reason,
      };
    }
    case 3:
    case 4: {
      const responses = [...(open?.members.keys() ?? [])].map((id) => ({ requestId: id, tokens: choices.below(9) }));
      if (choices.below(5) === 0) responses.push({ requestId: `${promptId}/9#${choices.below(50)}`, tokens: 3 });
      if (choices.below(5) === 0) {
        const others = responses.map((one) => ({ ...one, weightVersions: [0, 1] }));
        const reason = { code: 'passed', counted: 1, needed: 2 } as const;
        return { type: 'prompt.counted', at, promptId, roundId, promptTokens: 4, responses: others, reason };
      }
      const reason = { code: 'no_filter', counted: 1, needed: 2 } as const;
      return { type: 'prompt.counted', at, promptId, roundId, responses, reason };
    }
    case 5:
      return completion(state, choices, roundId, at);
    case 6: {
      const held = [...(open?.members.keys() ?? [])];
      const dropped = held.map((id) => ({ requestId: id, tokens: 1, cause: 'stale_weights' as const }));
      const reason = { code: 'round_completed', held: held.length, needed: 2 } as const;
      return { type: 'prompt.deferred', at, prompt: { promptId }, roundId, dropped, reason };
    }
    case 7: {
      const dropped = [{ requestId, tokens: 1, cause: 'merged' as const }];
      return { type: 'prompt.merged', at, promptId, roundId, dropped, reason: { code: 'already_in_round' } };
    }
    case 8:
      return {
        type: 'reward.failed',
        at,
        requestId,
        kind: 'rule',
        reason: { code: 'infrastructure', failures: 1, budget: 0 },
      };
    default:
      return { type: 'reward.ready', at, requestId, reward: choices.below(2) };
  }
}

function completion(state: AssemblyState, choices: Choices, id: string, at: number): EventNamed<'round.completed'> {
  const round = pick(
    [...state.rounds.values()].filter((one) => one.completed === null),
    choices,
  );
  const isFailed = choices.below(5) === 0;
  const ids = isFailed ? [] : [...(round?.groups.keys() ?? []), ...(round?.unrewarded ?? [])];
  return {
    type: 'round.completed',
    at,
    roundId: round?.roundId ?? id,
    kind: 'short',
    weightVersion: 1,
    prompts: ids.map((promptId) => ({
      promptId,
      responses: [...(round?.groups.get(promptId)?.members.values() ?? [])].map(({ requestId, tokens }, index) => ({
        requestId,
        index,
        tokens,
        weightVersions: [1],
      })),
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code: isFailed ? 'round_failed' : 'quota_reached', counted: ids.length, needed: 2 },
  };
}
