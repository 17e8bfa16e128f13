/** No policy: each turn goes to the next engine. To compare with. */
import type { Policy } from './programs.ts';

/** Makes one. */
export function roundRobin(): Policy {
  const engines: string[] = [];
  const running = new Map<string, string>();
  const held = new Set<string>();
  let turns = 0;
  const route = (requestId: string, at: number) => {
    const engineId = engines[turns++ % engines.length];
    if (engineId === undefined) {
      held.add(requestId);
      return [];
    }
    held.delete(requestId);
    running.set(requestId, engineId);
    const reason = { code: 'first', seconds: 0, cachedTokens: 0, waitedSeconds: 0 } as const;
    return [{ type: 'turn.route', at, requestId, engineId, reason } as const];
  };
  return {
    send: (event) => {
      const { type, at } = event;
      if (type === 'engine.added') {
        engines.push(event.engineId);
        return [...held].flatMap((requestId) => route(requestId, at));
      }
      if (type === 'turn.requested') return route(event.requestId, at);
      if (type === 'turn.finished' || type === 'program.closed') {
        running.delete(event.requestId);
        held.delete(event.requestId);
      }
      if (type !== 'engine.lost') return [];
      if (!engines.includes(event.engineId)) return [];
      engines.splice(engines.indexOf(event.engineId), 1);
      const lost = [...running].filter(([, engineId]) => engineId === event.engineId);
      return lost.flatMap(([requestId]) => route(requestId, at));
    },
  };
}
