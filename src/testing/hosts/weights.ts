/** The weights of a run. */
import type { AnyEvent } from '../../core/machine/definition.ts';

/** Returns the latest weight version in a run; 0 if no event has a version. */
export function latestVersion(events: readonly AnyEvent[]): number {
  return events.reduce((latest, event) => {
    const { weightVersion } = event as AnyEvent & { weightVersion?: unknown };
    return Math.max(latest, typeof weightVersion === 'number' ? weightVersion : 0);
  }, 0);
}
