/**
 * Adaptive timeouts (RollPacker §4.3): a thing that is run again and again may take a multiple of its longest good run, its
 * anchor. From time to time a run gets the longest timeout, so that an anchor that is too low can rise.
 */
import { z } from 'zod';
import { count, seconds } from '../../schemas/units.ts';
import { LruMap } from '../collections/lru.ts';
import { byHand } from '../machine/state.ts';

/** Record of a thing that has had a good run. */
export interface Anchor {
  /** The longest good run, in seconds. */
  seconds: number;
  /** Number of runs since the last run that got the longest timeout in order to explore. */
  runsSinceExploration: number;
}
/** Anchors by id; the least recently used leave. */
export type Anchors = LruMap<string, Anchor>;

/** Rule that derives timeouts from anchors. */
export interface TimeoutRule {
  /** λ: a run may take λ times the anchor. */
  readonly factor: number;
  /** Tmin: the shortest timeout, in seconds. */
  readonly minSeconds: number;
  /** Tmax: the longest timeout, in seconds. */
  readonly maxSeconds: number;
  /** One of so many runs gets Tmax; 0: none does. */
  readonly exploreEvery: number;
}

/** A timeout, and the numbers that it follows from. */
export interface Timeout {
  readonly code: 'no_anchor' | 'exploration' | 'anchored';
  readonly seconds: number;
  /** The anchor, in seconds; `null` without one. */
  readonly anchorSeconds: number | null;
}

/** Anchors in a state. Anchors are saved as lists without field names, which halves the size of a state with many anchors. */
export const anchorsOf = (id: z.ZodType<string, string>) =>
  byHand(z.array(z.tuple([id, seconds, count])).describe('Id, anchor, runs since an exploration.'), {
    decode: (saved): Anchors => {
      const map: Anchors = new LruMap(Number.POSITIVE_INFINITY);
      for (const [key, anchorSeconds, runsSinceExploration] of saved) {
        map.set(key, { seconds: anchorSeconds, runsSinceExploration });
      }
      return map;
    },
    encode: (map) => [...map].map(([key, one]) => [key, one.seconds, one.runsSinceExploration]),
  });

/** Returns min(max(Tmin, λ · anchor), Tmax), in seconds. */
export function timeoutOf({ factor, minSeconds, maxSeconds }: TimeoutRule, anchorSeconds: number): number {
  const timeout = Math.min(Math.max(minSeconds, factor * anchorSeconds), maxSeconds);
  // Without a minimum, a run that took no measurable time tells nothing about the next run.
  return timeout > 0 ? timeout : maxSeconds;
}

/** Returns the timeout of a run that begins now, and counts the run. */
export function beginRun(anchors: Anchors, id: string, rule: TimeoutRule): Timeout {
  const anchor = anchors.get(id);
  if (anchor === undefined) return { code: 'no_anchor', seconds: rule.maxSeconds, anchorSeconds: null };
  anchor.runsSinceExploration += 1;
  if (rule.exploreEvery > 0 && anchor.runsSinceExploration >= rule.exploreEvery) {
    anchor.runsSinceExploration = 0;
    return { code: 'exploration', seconds: rule.maxSeconds, anchorSeconds: anchor.seconds };
  }
  return { code: 'anchored', seconds: timeoutOf(rule, anchor.seconds), anchorSeconds: anchor.seconds };
}

/** Takes in a good run. Returns the anchor in seconds, and whether another anchor was forgotten to make room. */
export function raiseAnchor(anchors: Anchors, id: string, seconds: number): { seconds: number; forgets: boolean } {
  // An anchor counts as used when a run begins, not when the run ends, so `peek` does not mark it.
  const anchor = anchors.peek(id);
  if (anchor === undefined) {
    const forgotten = anchors.set(id, { seconds, runsSinceExploration: 0 });
    return { seconds, forgets: forgotten !== undefined };
  }
  anchor.seconds = Math.max(anchor.seconds, seconds);
  return { seconds: anchor.seconds, forgets: false };
}

/** Makes the next run explore, because an exploring run has ended without a result. */
export function exploreNext(anchors: Anchors, id: string, { exploreEvery }: TimeoutRule): void {
  const anchor = anchors.peek(id);
  if (anchor !== undefined) anchor.runsSinceExploration = exploreEvery;
}
