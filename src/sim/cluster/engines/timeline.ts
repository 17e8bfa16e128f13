/** Turns the records of an engine into the segments that a report draws. */
import type { Segment } from '../../comparison/result.ts';

/** A segment is cut when the number of running sequences changes by this share of the rollout's maximum. */
const resolution = 1 / 16;

/**
 * Returns the segments of one rollout: the engine's segments, joined where the number of running sequences hardly differs, and
 * idle segments between them with `running: 0`. Idle and busy time are never joined, so that bubbles stay exact.
 *
 * @param recorded - segments of the engine, ascending, without overlap
 * @param startSeconds - time at which the rollout began to generate
 * @param endSeconds - time at which its last request ended
 */
export function rolloutSegments(recorded: readonly Segment[], startSeconds: number, endSeconds: number): Segment[] {
  const most = recorded.reduce((peak, one) => Math.max(peak, one.running), 0);
  const step = Math.max(1, most * resolution);
  const segments: Segment[] = [];
  let at = startSeconds;
  let first = 0;
  let area = 0;
  const idle = (start: number, end: number): void => {
    if (end > start) segments.push({ startSeconds: start, endSeconds: end, activity: 'rollout', running: 0 });
  };
  for (const one of recorded) {
    const seconds = one.endSeconds - one.startSeconds;
    const last = segments[segments.length - 1];
    if (one.startSeconds > at) idle(at, one.startSeconds);
    else if (last?.activity === one.activity && last.running > 0 && Math.abs(one.running - first) < step) {
      area += one.running * seconds;
      const running = area / (one.endSeconds - last.startSeconds);
      segments[segments.length - 1] = { ...last, endSeconds: one.endSeconds, running };
      at = one.endSeconds;
      continue;
    }
    first = one.running;
    area = one.running * seconds;
    segments.push(one);
    at = one.endSeconds;
  }
  idle(at, endSeconds);
  return segments;
}

/** Adds a stretch of other work on the GPUs than rollout; does nothing for an empty stretch. */
export function addActivity(
  segments: Segment[],
  activity: Segment['activity'],
  startSeconds: number,
  endSeconds: number,
): void {
  if (endSeconds > startSeconds) segments.push({ startSeconds, endSeconds, activity, running: 0 });
}
