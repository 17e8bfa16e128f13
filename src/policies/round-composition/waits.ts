/** What blocks what in round-composition: every held prompt waits for a round. */
import { keptResponses } from '../../core/why/response-waits.ts';
import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { CompositionState } from './state.ts';

/** The round that is being planned. */
const beforeRequest = ({ pending }: CompositionState): readonly HeldThing[] =>
  pending === null ? [] : [{ what: 'rounds', id: pending.roundId }];

/** What has to end before events are accepted. */
export const gates: Gates<CompositionState> = { 'round.requested': beforeRequest };

function nextRound(state: CompositionState): readonly (HeldThing | AwaitedEvent)[] {
  return state.pending === null ? [{ event: { type: 'round.requested' } }] : beforeRequest(state);
}

function standing(state: CompositionState, id: string): Standing | undefined {
  const { due, window, later } = state;
  const stands = (where: string, one: Prompt): Standing => ({
    stands: where,
    since: one.deferral?.sinceSeconds,
    for: nextRound(state),
  });
  const isDue = due.get(id);
  if (isDue !== undefined) return stands('is for the next round', isDue);
  const entry = window.get(id);
  if (entry !== undefined) return stands('is in the window, and longer ones go first', entry.prompt);
  const isLater = [...later].find(({ promptId }) => promptId === id);
  return isLater && stands('is for a later window', isLater);
}

function* prompts({ due, window, copies, later }: CompositionState): Iterable<Prompt> {
  yield* due.values();
  for (const { prompt } of window.values()) yield prompt;
  yield* copies;
  yield* later;
}

export const waits: Waits<CompositionState> = {
  prompts: { ids: (state) => new Set([...prompts(state)].map(({ promptId }) => promptId)), of: standing },
  responses: keptResponses(prompts, ({ due, window, copies, later }, id) => [
    due.get(id),
    window.get(id)?.prompt,
    ...[...copies, ...later].filter(({ promptId }) => promptId === id),
  ]),
  rounds: {
    ids: ({ pending }) => (pending === null ? [] : [pending.roundId]),
    of: ({ pending }, roundId) =>
      pending?.roundId === roundId
        ? {
            stands: `is not planned: prompts that its window lacks: ${pending.awaited}`,
            for: [{ event: { type: 'prompts.supplied', roundId } }],
          }
        : undefined,
  },
};
