/** The weights of a run. */
import type { AnyEvent } from '../core/definition.ts';

/** The latest version of the weights that a run names; 0 where it names none. */
export function latestVersion(events: readonly AnyEvent[]): number {
  return events.reduce((latest, event) => {
    const { weightVersion } = event as AnyEvent & { weightVersion?: unknown };
    return Math.max(latest, typeof weightVersion === 'number' ? weightVersion : 0);
  }, 0);
}
