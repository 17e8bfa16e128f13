/**
 * Pauses before responses are tried again, for any reason: `faults.ts` and `versions.ts` set pauses, and one timer ends them.
 * During its pause, `since` of a response is the end of the pause.
 */
import { Deadlines, timerNamed } from '../../core/rollout/deadlines.ts';
import { longestPauseSeconds } from '../../core/rollout/shared-faults.ts';
import { nextGivenUpAt } from './faults.ts';
import { nextSingleAt, requeue } from './singles.ts';
import type { AdmissionState, ResponseState } from './state.ts';

/** The longest pause after weights that were too old, in seconds. */
export const longestStalePauseSeconds = 64;

/** Returns the response whose pause ends first; responses that are not needed any more leave the heap. */
function firstPaused({ pauses: heap }: AdmissionState): ResponseState | undefined {
  for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
    if (next.status === 'paused' && next.prompt.status === 'active') return next;
    heap.pop();
  }
  return undefined;
}

/** Returns the earliest of three times: a response's pause ends, a single try is due, a response is given up. */
function pauseEnd(state: AdmissionState): number | undefined {
  const all = [firstPaused(state)?.since, nextSingleAt(state), nextGivenUpAt(state)].filter((one) => one !== undefined);
  return all.length === 0 ? undefined : Math.min(...all);
}

/** Deadlines at which pauses end. */
export const pauses = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/pause',
  ...timerNamed('pause'),
  first: pauseEnd,
  reason: (state) =>
    firstPaused(state)?.cause === 'retry_stale_weights' && pauseEnd(state) === firstPaused(state)!.since
      ? { code: 'stale_weights', longestPauseSeconds: longestStalePauseSeconds }
      : { code: 'retry_pause', longestPauseSeconds },
});

/** Queues responses whose pauses are over. */
export function takePauses(state: AdmissionState, at: number): void {
  for (let next = firstPaused(state); next !== undefined && next.since <= at; next = firstPaused(state)) {
    requeue(state, state.pauses.pop()!);
  }
}
