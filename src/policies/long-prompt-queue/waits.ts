/** What blocks what in long-prompt-queue: everything held waits for a round. */
import { keptResponses } from '../../core/why/response-waits.ts';
import type { AwaitedEvent, Standing, Waits } from '../../core/why/waits.ts';
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

export const waits: Waits<QueueState> = {
  prompts: { ids: ({ entries, unused }) => [...entries.keys(), ...unused.keys()], of: standing },
  responses: keptResponses(prompts, ({ entries, unused }, id) => [entries.get(id)?.prompt, unused.get(id)]),
};
