/** What blocks what for responses that prompts keep: each response waits for its prompt. */
import { finishedIds } from '../../schemas/moves.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { WaitsOf } from './waits.ts';

/**
 * Makes the waits of kept responses. A prompt is found by the id of the request, `<prefix><prompt>/<index>#<attempt>`: a look through
 * all prompts for each response would take quadratic time.
 *
 * @param all - returns all prompts
 * @param withId - returns the prompts with an id
 */
export function keptResponses<State>(
  all: (state: State) => Iterable<Prompt>,
  withId: (state: State, promptId: string) => Iterable<Prompt | undefined>,
): WaitsOf<State> {
  return {
    ids: (state) => [...all(state)].flatMap(finishedIds),
    of: (state, requestId) => {
      const end = requestId.lastIndexOf('/');
      for (let from = 0; from < end; from += 1) {
        const promptId = requestId.slice(from, end);
        for (const one of withId(state, promptId)) {
          if (one === undefined || !finishedIds(one).includes(requestId)) continue;
          return { stands: 'is complete', for: [{ what: 'prompts', id: promptId }] };
        }
      }
      return undefined;
    },
  };
}
