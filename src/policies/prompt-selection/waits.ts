/** What blocks what in prompt-selection: a prompt that was taken waits for a round, and a round for prompts. */
import { keptResponses } from '../../core/why/response-waits.ts';
import type { AwaitedEvent, Gates, HeldThing, Waits } from '../../core/why/waits.ts';
import type { SelectionState } from './state.ts';

/** The round that lacks prompts. */
const lacking = ({ need }: SelectionState): readonly HeldThing[] =>
  need === null ? [] : [{ what: 'rounds', id: need.roundId }];

/** What has to end before events are accepted. */
export const gates: Gates<SelectionState> = {
  'round.requested': (state) => (state.config.promptsPerRound === undefined ? [] : lacking(state)),
};

function nextRound(state: SelectionState): readonly (HeldThing | AwaitedEvent)[] {
  if (state.need !== null) return lacking(state);
  const roundId = state.recentRounds.newest;
  if (state.config.promptsPerRound !== undefined || roundId === undefined)
    return [{ event: { type: 'round.requested' } }];
  return [{ event: { type: 'prompts.request', roundId } }];
}

export const waits: Waits<SelectionState> = {
  prompts: {
    ids: ({ taken }) => taken.keys(),
    of: (state, id) => {
      const one = state.taken.get(id);
      if (one === undefined) return undefined;
      return { stands: 'was taken', since: one.prompt.deferral?.sinceSeconds, for: nextRound(state) };
    },
  },
  responses: keptResponses(
    function* ({ taken }) {
      for (const { prompt } of taken.values()) yield prompt;
    },
    ({ taken }, id) => [taken.get(id)?.prompt],
  ),
  rounds: {
    ids: ({ need }) => (need === null ? [] : [need.roundId]),
    of: ({ need, taken }, roundId) =>
      need?.roundId === roundId
        ? {
            stands: `has ${taken.size} prompts, ${need.passed} were passed over`,
            for: [{ event: { type: 'prompts.supplied', roundId } }],
          }
        : undefined,
  },
};
