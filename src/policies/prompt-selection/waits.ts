/** What blocks what in prompt-selection: a prompt that was taken waits for a round, and a round for prompts. */
import { keptResponses } from '../../core/why/response-waits.ts';
import type { AwaitedEvent, Gates, HeldThing, Waits } from '../../core/why/waits.ts';
import type { SelectionState } from './state.ts';

/** The round that lacks prompts. */
const lacking = ({ need }: SelectionState): readonly HeldThing[] =>
  need === null ? [] : [{ what: 'rounds', id: need.roundId }];

/** The prompts that a round has been promised. */
const supplied = ({ roundId, askedAt }: NonNullable<SelectionState['need']>): AwaitedEvent => ({
  event: { type: 'prompts.supplied', roundId },
  since: askedAt,
});

/** What has to end before events are accepted. */
export const gates: Gates<SelectionState> = {
  'prompts.supplied': ({ need }) => (need === null ? [] : [supplied(need)]),
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
    ids: ({ taken, last }) => new Set([...taken.keys(), ...last.keys()]),
    of: (state, id) => {
      const one = state.taken.get(id) ?? state.last.get(id);
      if (one === undefined) return undefined;
      const stands = state.taken.has(id) ? 'was taken' : 'was passed over, until the end of the epoch';
      return { stands, since: one.prompt.deferral?.sinceSeconds, for: nextRound(state) };
    },
  },
  responses: keptResponses(
    function* ({ taken, last }) {
      for (const { prompt } of taken.values()) yield prompt;
      for (const { prompt } of last.values()) yield prompt;
    },
    ({ taken, last }, id) => [taken.get(id)?.prompt, last.get(id)?.prompt],
  ),
  rounds: {
    ids: ({ need }) => (need === null ? [] : [need.roundId]),
    of: ({ need, taken }, roundId) =>
      need?.roundId === roundId
        ? {
            stands: `has ${taken.size} prompts, ${need.passed} were passed over`,
            for: [supplied(need)],
          }
        : undefined,
  },
};
