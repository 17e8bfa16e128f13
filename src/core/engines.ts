/** Engines that a host names: only known ones are reported on, and all may change at once. */
import { refuse } from '../errors.ts';
import type { Message } from '../schemas/messages.ts';

interface WithEngines {
  readonly engines: ReadonlyMap<string, unknown>;
}
interface OfEngine {
  readonly engineId: string;
}

/** Refuses an unknown engine. */
export function checkEngine({ engines }: WithEngines, { engineId }: OfEngine): void {
  if (!engines.has(engineId)) refuse('unknown_id', 'engineId', 'an engine that was added', engineId);
}

/** Makes the handler that drains the engines which are not named, and adds the others. */
export function changeEngines<State extends WithEngines>(
  add: (state: State, engine: OfEngine) => void,
  drain: (state: State, engine: OfEngine) => void,
) {
  return (state: State, { engineIds }: Message<'engines.changed'>): void => {
    const named = new Set(engineIds);
    for (const engineId of [...state.engines.keys()]) if (!named.has(engineId)) drain(state, { engineId });
    for (const engineId of engineIds) add(state, { engineId });
  };
}
