/** What blocks what in divided-rollout: chunks wait for engines, waiting requests for room, and opened requests for the host. */
import type { AwaitedEvent, HeldThing, Waits } from '../../core/why/waits.ts';
import type { DividedState, Request } from './state.ts';

/** The room on engines, for which requests wait. All engines are one thing here, because each chunk that ends may make room. */
const rooms: readonly HeldThing[] = Object.freeze([{ what: 'room', id: 'engines' }]);

/** What makes room: the requests that occupy it now, or a new engine. */
function* room({ engines, nextOn }: DividedState): Iterable<HeldThing | AwaitedEvent> {
  let active = false;
  for (const engine of engines.values()) active ||= engine.active;
  if (!active) yield { event: { type: 'engine.added' } };
  for (const { engineId, running } of engines.values()) {
    if (nextOn !== null && engineId !== nextOn) continue;
    for (const { requestId } of running) yield { what: 'requests', id: requestId };
  }
}

const asking = ({ requestId, promptTokens }: Request) => ({
  type: 'chunks.requested',
  requests: [{ requestId, promptTokens }],
});

export const waits: Waits<DividedState> = {
  requests: {
    ids: ({ requests }) => requests.keys(),
    of: (state, requestId) => {
      const one = state.requests.get(requestId);
      if (one === undefined) return undefined;
      const { phase, since, engineId, tokens, chunkTokens, maxTokens } = one;
      switch (phase) {
        case 'opened':
          return {
            stands: 'has not asked for an engine',
            since,
            for: [{ event: asking(one), since }],
          };
        case 'waiting':
          return { stands: `is held back after ${tokens} tokens`, since, for: rooms };
        default: {
          // A chunk that reaches the response's token limit is the last one.
          const isLast = maxTokens !== null && tokens + chunkTokens >= maxTokens;
          const event = { type: isLast ? 'response.completed' : 'chunk.finished', requestId };
          return { stands: `runs a chunk on engine ${engineId}`, since, for: [{ event, since, by: engineId! }] };
        }
      }
    },
  },
  room: {
    ids: () => [],
    of: (state, id) => (id === 'engines' ? { stands: 'have no room', for: room(state) } : undefined),
  },
};
