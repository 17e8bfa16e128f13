/** Plays sessions of a log to a place, each time from the nearest known state. */

import { refuse } from '../../errors.ts';
import type { Place } from '../format/log.ts';
import { type SavedPlay, SessionPlay } from '../replay/play.ts';
import type { IndexedFile, IndexedFiles, IndexOptions, SessionInSegment } from './files.ts';
import type { Point } from './segment.ts';
import { linesInSegment } from './segment-lines.ts';

/** A session that is played, and the place of the next line. */
export interface Playing {
  readonly session: string;
  readonly run: number;
  readonly play: SessionPlay;
  file: IndexedFile;
  offset: number;
}

/** A state that was saved on the way to another state, and the place of the next line. */
interface Stop extends Pick<Playing, 'session' | 'run' | 'file' | 'offset'> {
  readonly seq: number;
  /** The state as JSON, because a policy owns the state object that it was made from. */
  readonly saved: string;
}

/** A step back saves a state so many events earlier, for further steps back; at most so many such states are kept. */
const [stepsBack, mostStops] = [64, 8];
/** Playing so many events takes no longer than restoring a state. */
const eventsOfARestore = 1000;

export class Player {
  readonly #files: IndexedFiles;
  readonly #restore: IndexOptions['restore'];
  #stops: Stop[] = [];

  constructor(files: IndexedFiles, restore: IndexOptions['restore']) {
    this.#files = files;
    this.#restore = restore;
  }

  /** @param before - a session that may be played on */
  play(session: string, place: Place, before?: Playing): Playing {
    const segments = this.#files.segmentsNamed(session);
    if (segments.length === 0) refuse('unknown_id', 'session', 'a session of the log', session);
    const { run } = segments[0]!.here;
    const known = before?.session === session && before.run === run ? before : undefined;
    let playing = this.#start(session, segments, place, known);
    // Steps back usually follow each other.
    const isBack = known !== undefined && 'seq' in place && place.seq < known.play.seq;
    const stop = isBack ? place.seq - stepsBack : -1;
    const [number, offset] = playing === undefined ? [-1, 0] : [this.#files.all.indexOf(playing.file), playing.offset];
    for (const inSegment of segments) {
      const { file, segment } = inSegment;
      const here = this.#files.all.indexOf(file);
      if (here < number || (here === number && segment.head.to <= offset)) continue;
      for (const { line, to } of linesInSegment(inSegment, here === number ? offset : 0, () => playing?.play.seq)) {
        const at = line.kind === 'event' ? line.event.at : (line.snapshot?.at ?? 0);
        if (playing !== undefined && ('seq' in place ? line.seq > place.seq : at > place.at)) return playing;
        const seq = line.kind === 'session' ? line.seq : line.seq - 1;
        playing ??= { session, run, play: new SessionPlay(this.#restore, seq), file, offset: 0 };
        playing.play.take(line, () => file.name);
        playing.file = file;
        playing.offset = to;
        if (line.kind === 'event' && line.seq === stop) this.#keep(playing);
      }
    }
    return playing!;
  }

  /** Returns the nearest earlier state from which a place can be reached; `undefined` if that is the beginning of the log. */
  #start(
    session: string,
    segments: readonly SessionInSegment[],
    place: Place,
    known: Playing | undefined,
  ): Playing | undefined {
    const restore = this.#restore;
    const isBefore = ({ seq, at }: { seq: number; at?: number }): boolean =>
      'seq' in place ? seq <= place.seq : (at ?? Number.POSITIVE_INFINITY) <= place.at;
    let from = segments.length - 1;
    let point: Point | undefined;
    for (; from >= 0 && point === undefined; from -= 1) point = segments[from]!.here.points.findLast(isBefore);
    const { file, segment, here } = segments[from + 1]!;
    const { run } = here;
    const stop = this.#stops
      .filter((one) => one.session === session && one.run === run && isBefore(one))
      .reduce<Stop | undefined>((best, one) => (best !== undefined && best.seq > one.seq ? best : one), undefined);
    const seq = Math.max(point?.seq ?? -1, stop?.seq ?? -1);
    if (known !== undefined && isBefore(known.play) && known.play.seq + eventsOfARestore >= seq) return known;
    if (stop !== undefined && stop.seq === seq) {
      const play = new SessionPlay(restore, seq, JSON.parse(stop.saved) as SavedPlay);
      return { session, run, play, file: stop.file, offset: stop.offset };
    }
    if (point === undefined) return undefined;
    return { session, run, play: new SessionPlay(restore, seq, segment.stateAt(point)), file, offset: point.offset };
  }

  #keep({ play, ...place }: Playing): void {
    const saved = play.save();
    if (saved === undefined) return;
    const { session, run, file, offset } = place;
    this.#stops.push({ session, run, file, offset, seq: play.seq, saved: JSON.stringify(saved) });
    this.#stops = this.#stops.slice(-mostStops);
  }
}
