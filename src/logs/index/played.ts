/** What is played while an index is made: the sessions of a log, and its files. */
import type { PlayedPolicy, SessionPlay } from '../replay/play.ts';
import type { SegmentHead } from './segment.ts';

/** Lengths of the parts of an index, in bytes of the log. */
export interface Grain {
  readonly segment: number;
  /** What is read to find the lines that mention an id. */
  readonly block: number;
  /** The least of a session between two of its states; at the end of a log a fourth of it, so that the end needs no long replay. */
  readonly state: number;
}
export const defaultGrain: Grain = Object.freeze({ segment: 16 << 20, block: 128 << 10, state: 1 << 20 });
/** A session that is being played. */
export interface Played {
  readonly play: SessionPlay;
  readonly run: number;
  readonly policy: string;
  closed: boolean;
  /** Latest time on its own clock, and on that of the log. */
  at: number;
  time: number;
  /** Bytes of its lines since its last state. */
  pending: number;
  /** Length of its last state, and the milliseconds that saving it took. */
  plain: number;
  saving: number;
  /** Bytes of its lines since its last state after which the clock is looked at again. */
  look: number;
}

/** Returns a session that goes on from here. */
export const playedFrom = (from: Pick<Played, 'play' | 'run' | 'policy' | 'closed' | 'at' | 'time'>): Played => ({
  ...from,
  pending: 0,
  plain: 0,
  saving: 0,
  look: 0,
});

/** The file that is read. */
export interface BuiltFile {
  readonly file: number;
  readonly name: string;
  readonly kind: SegmentHead['kind'];
  readonly writer: string;
  readonly grain: Grain;
  size: number;
  modified: number;
}

/** What the builder needs of what comes before. */
export interface BuildContext {
  restore(snapshot: unknown): PlayedPolicy;
  /** The sessions that were played so far, by id. */
  readonly plays: Map<string, Played>;
  /** Returns a session from the segments before, if it is there. */
  resume(session: string): Played | undefined;
}
