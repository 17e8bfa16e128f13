/** Likely events that generators of several policies share, for property tests. */
import type { Message } from '../../schemas/messages.ts';
import { type Choices, pick } from './choices.ts';

/** Draws an engine that comes, one of three. */
export function engineAdded(at: number, choices: Choices): Message<'engine.added'> {
  return { type: 'engine.added', at, engineId: `e${choices.below(3)}` };
}

/**
 * Draws an event of an engine that is known, or of a new one, or a restart of the host.
 *
 * @param loadOf - draws what an engine reports beside the size of its KV cache
 */
export function engineEvent(
  { engines, seq }: { readonly engines: ReadonlyMap<string, unknown>; readonly seq: number },
  at: number,
  choices: Choices,
  loadOf: (choices: Choices) => Partial<Message<'engine.reported'>> = () => ({}),
): Message<
  'engine.added' | 'engine.drained' | 'engine.lost' | 'engines.changed' | 'engine.reported' | 'host.restarted'
> {
  const engineId = pick([...engines.keys()], choices) ?? `e${choices.below(3)}`;
  switch (choices.below(8)) {
    case 0:
      return { type: 'engine.drained', at, engineId };
    case 1:
      return { type: 'engine.lost', at, engineId };
    case 2:
      return { type: 'engines.changed', at, engineIds: ['e0', 'e1', 'e2'].slice(choices.below(3)) };
    case 3:
      return { type: 'host.restarted', at, idPrefix: `h${seq}-` };
    case 4:
    case 5: {
      const kvCapacityTokens = 200 * (1 + choices.below(8));
      const load = { kvUsedTokens: 0, running: 1, waiting: 0, preemptions: 0, ...loadOf(choices) };
      return { type: 'engine.reported', at, engineId, kvCapacityTokens, ...load };
    }
    default:
      return engineAdded(at, choices);
  }
}

/** Draws a prompt that comes back from a round that has failed, or that was deferred. */
export function comesBack(
  promptId: string,
  at: number,
  roundId: string,
  choices: Choices,
): Message<'prompt.returned' | 'prompt.deferred'> {
  const requestId = `${promptId}/0#${choices.below(1000)}`;
  const kept = [{ requestId, index: 0, tokens: 3, weightVersions: [0], finished: choices.below(2) === 0 }];
  if (choices.below(2) === 0) {
    return {
      ...{ type: 'prompt.returned', at, roundId, dropped: [] },
      ...{ prompt: { promptId, kept }, reason: { code: 'round_failed' } },
    };
  }
  const deferral = { count: 1, sinceRound: 0, sinceSeconds: at };
  return {
    ...{ type: 'prompt.deferred', at, roundId, dropped: [] },
    prompt: { promptId, expectedTokens: choices.below(1000), deferral },
    reason: { code: 'round_completed', held: 0, needed: 2 },
  };
}
