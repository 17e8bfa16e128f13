/** The weights of a run. */
import type { AnyEvent } from '../core/definition.ts';

/** Returns the latest weight version that a run names; 0 if it names none. */
export function latestVersion(events: readonly AnyEvent[]): number {
  return events.reduce((latest, event) => {
    const { weightVersion } = event as AnyEvent & { weightVersion?: unknown };
    return Math.max(latest, typeof weightVersion === 'number' ? weightVersion : 0);
  }, 0);
}
