/** The clock of a session, which continues when the host's clock begins anew. */
import type { AnyDecision, AnyEvent } from './definition.ts';

/**
 * Clocks of processes in one job differ by less than this, in seconds. If a restarted host is further behind, its clock is
 * another one, such as a clock that counts from the start of the process.
 */
const mostSkewSeconds = 3600;

/** Whether the host's clock has begun anew, judged by the time of an event after the latest time. */
export const isNewClock = ({ type, at }: AnyEvent, latest: number): boolean =>
  type === 'host.restarted' && at < latest - mostSkewSeconds;

/**
 * Returns the times of events. A time before the latest time is read as the latest. If a restarted host is more than an hour
 * behind, then its clock has begun anew: no timer would fire for that long, and nothing would be overdue. From then on the
 * session counts times from the latest one, and `timer.set` says by how much `at` is ahead of the host's clock.
 */
export class SessionClock {
  #aheadSeconds: number;

  constructor(aheadSeconds: number) {
    this.#aheadSeconds = aheadSeconds;
  }

  /** Seconds by which the times of the session are ahead of the host's times. */
  get aheadSeconds(): number {
    return this.#aheadSeconds;
  }

  /** Returns the time of an accepted event, in seconds; `latest` is the time of the previous event. */
  timeOf(event: AnyEvent, latest: number, id: string): number {
    const { at } = event;
    if (event.type === 'host.restarted') {
      const aheadSeconds = isNewClock(event, latest) ? latest - at : 0;
      if (aheadSeconds > 0) warnOfNewClock(id, at, aheadSeconds);
      this.#aheadSeconds = aheadSeconds;
    }
    return Math.max(at + this.#aheadSeconds, latest);
  }

  /** Converts a decision of the policy for the host: a timer fires on the host's clock. */
  onHostClock<D extends AnyDecision>(decision: D): D {
    const aheadSeconds = this.#aheadSeconds;
    if (aheadSeconds === 0 || decision.type !== 'timer.set') return decision;
    const { fireAtSeconds } = decision as unknown as { readonly fireAtSeconds: number };
    return { ...decision, fireAtSeconds: Math.max(0, fireAtSeconds - aheadSeconds), aheadSeconds };
  }
}

function warnOfNewClock(id: string, at: number, aheadSeconds: number): void {
  // Some engines in which a policy is embedded have no console.
  globalThis.console?.warn(
    `rollflex: ${id} was told of a restart at the time ${at}, ${Math.round(aheadSeconds)} s before the latest: the clock of the host has begun anew. Its timers are counted from there`,
  );
}
