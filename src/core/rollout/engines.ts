/** Engines that a host names. Only a known engine is reported on, and a host may change all engines at once. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { engineId } from '../../schemas/units.ts';
import { type RecentIds, recentIds } from '../ids/recent-ids.ts';

/** Number of engines that are remembered after they have left. */
const mostGone = 512;

/** State field for the engines that have left last. A report about one of them is late, not wrong. */
export const goneEngines = recentIds(engineId, mostGone);

/** Migrates a state from before {@link goneEngines}. */
export const withoutGone = (saved: unknown): unknown => ({ ...(saved as object), goneEngines: [] });

interface WithEngines {
  readonly engines: Map<string, unknown>;
  readonly goneEngines: RecentIds;
}
interface OfEngine {
  readonly engineId: string;
}

/** Refuses an engine that was never added. Reports on an engine that has left are accepted, and change nothing. */
export function checkEngine({ engines, goneEngines: gone }: WithEngines, { engineId: id }: OfEngine): void {
  if (!engines.has(id) && !gone.has(id)) refuse('unknown_id', 'engineId', 'an engine that was added', id);
}

/** Forgets an engine that has left. */
export function removeEngine({ engines, goneEngines: gone }: WithEngines, id: string): void {
  engines.delete(id);
  gone.add(id);
}

/** Makes the handler that adds the named engines and drains all others. */
export function changeEngines<State extends WithEngines, C>(
  add: (state: State, engine: OfEngine) => void,
  drain: (state: State, engine: OfEngine, ctx: C) => void,
) {
  return (state: State, { engineIds }: Message<'engines.changed'>, ctx: C): void => {
    const named = new Set(engineIds);
    for (const id of [...state.engines.keys()]) if (!named.has(id)) drain(state, { engineId: id }, ctx);
    for (const id of engineIds) add(state, { engineId: id });
  };
}
