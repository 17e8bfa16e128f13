/** What blocks what in long-prompt-queue: all that it holds waits for a round. */
import type { AwaitedEvent, Standing, Waits } from '../../core/waits.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { QueueState } from './state.ts';

const nextRound: readonly AwaitedEvent[] = Object.freeze([{ event: { type: 'round.requested' } }]);

function* prompts({ entries, unused }: QueueState): Iterable<Prompt> {
  for (const { prompt } of entries.values()) yield prompt;
  yield* unused.values();
}

function standing(state: QueueState, promptId: string): Standing | undefined {
  const entry = state.entries.get(promptId);
  if (entry === undefined) {
    return state.unused.has(promptId)
      ? { stands: 'was returned, and is for the next round', for: nextRound }
      : undefined;
  }
  const { promptsPerRound } = state.config;
  return {
    stands: `is queued for a long round, with ${state.entries.size} of ${promptsPerRound} prompts`,
    since: entry.prompt.deferral?.sinceSeconds,
    for: nextRound,
  };
}

function* kept(state: QueueState): Iterable<readonly [requestId: string, promptId: string]> {
  for (const { promptId, kept = [] } of prompts(state)) {
    for (const { finished, requestId } of kept) if (finished) yield [requestId, promptId];
  }
}

/** What blocks what. */
export const waits: Waits<QueueState> = {
  prompts: { ids: ({ entries, unused }) => [...entries.keys(), ...unused.keys()], of: standing },
  responses: {
    ids: (state) => [...kept(state)].map(([requestId]) => requestId),
    of: (state, id) => {
      const found = [...kept(state)].find(([requestId]) => requestId === id);
      return found && { stands: 'is complete', for: [{ what: 'prompts', id: found[1] }] };
    },
  },
};
