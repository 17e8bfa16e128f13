/** What is played while an index is made: the sessions of a log and its files. */
import type { PlayedPolicy, SessionPlay } from '../replay/play.ts';
import type { SegmentHead } from './segment.ts';

/** Lengths of the parts of an index, in bytes of the log. */
export interface Grain {
  readonly segment: number;
  /** Bytes per block, which is read as a whole to find lines that mention an id. */
  readonly block: number;
  /** Least bytes of a session between two states; at the end of a log a fourth of this, so that the end needs no long replay. */
  readonly state: number;
}
export const defaultGrain: Grain = Object.freeze({ segment: 16 << 20, block: 128 << 10, state: 1 << 20 });
/** A session that is being played. */
export interface Played {
  readonly play: SessionPlay;
  readonly run: number;
  readonly policy: string;
  closed: boolean;
  /** Latest time on the session's clock, and on the log's clock. */
  at: number;
  time: number;
  /** Bytes of lines since the last state. */
  pending: number;
  /** Length of the last state, and milliseconds that saving it took. */
  plain: number;
  saving: number;
  /** Bytes of lines since the last state after which the clock is read again. */
  look: number;
}

/** Returns a session that continues from here. */
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

/** What the builder needs from earlier segments. */
export interface BuildContext {
  restore(snapshot: unknown): PlayedPolicy;
  /** By id: the sessions that were played so far. */
  readonly plays: Map<string, Played>;
  /** Returns a session from earlier segments, if it is there. */
  resume(session: string): Played | undefined;
}
