/**
 * The index of a log: made once, extended where the log has grown, and made anew where the log is another one. It answers the state
 * at any event, the lines that mention an id, and what is missing.
 */
import type { LogLineOf } from '../../core/decision-log.ts';
import { eachIdOf, parseEventLine, parseLogLine } from '../../core/log-line.ts';
import { type SavedPlay, SessionPlay } from '../../core/log-play.ts';
import { nearest } from '../../core/nearest.ts';
import type { LogGap } from '../../core/replay-log.ts';
import { refuse } from '../../errors.ts';
import { type Played, playedFrom } from './build.ts';
import { type IndexedFile, IndexedFiles, type IndexOptions, type Part } from './files.ts';
import { chunksOf, linesIn } from './lines.ts';
import type { Point, SegmentHead, SegmentSession } from './segment.ts';

/** A session of a log. */
export interface LoggedSession {
  /** Id of the session; empty for the one of an event log. */
  readonly session: string;
  /** Number among the sessions with this id, from 0. */
  readonly run: number;
  readonly policy: string;
  /** Events before the first one of the log, and the last event. */
  readonly first: number;
  readonly seq: number;
  /** Its latest time, and the same at the end of the log, when others may have gone on. */
  readonly at: number;
  readonly end: number;
  readonly gaps: readonly LogGap[];
  readonly closed: SegmentSession['closed'];
  readonly problem: string | undefined;
  readonly differs: number | undefined;
}

/** A line of a log that mentions an id. */
export type FoundLine = LogLineOf<'event'>;

/** A block of the log with events of a session. */
export interface LineBlock {
  /** Its text, of all sessions. */
  bytes(): Buffer;
  /** The events of the session in it. */
  events(): FoundLine[];
}

/** A place in a session: after an event, or at a time of the session's clock. */
export type Place = { readonly seq: number } | { readonly at: number };

/** A session that is played, and the place of the next line. */
interface Playing {
  readonly session: string;
  readonly run: number;
  readonly play: SessionPlay;
  file: IndexedFile;
  offset: number;
}

/** A state that was saved on the way to another one, and the place of the next line. */
interface Stop extends Pick<Playing, 'session' | 'run' | 'file' | 'offset'> {
  readonly seq: number;
  /** As JSON: a policy owns the state that it was made of. */
  readonly saved: string;
}

/** Most ids that are compared with a mistyped one, and the letters that those of requests share with it. */
const [mostCompared, likeness] = [50_000, 4];
/** A step back saves a state so many events before, for the steps back that follow; and so many of those are kept. */
const [stepsBack, mostStops] = [64, 8];
/** To play so many events takes no longer than to restore a state. */
const eventsOfARestore = 1000;

export class LogIndex {
  readonly #files: IndexedFiles;
  readonly #restore: IndexOptions['restore'];
  #playing: Playing | undefined;
  #stops: Stop[] = [];

  /**
   * Opens a log, and makes or extends its index.
   *
   * @throws PolicyError `invalid_input` for a broken line, with its file and number, or for files of different kinds; the system's error
   */
  constructor(paths: readonly string[], options: IndexOptions) {
    this.#restore = options.restore;
    this.#files = new IndexedFiles(paths, options, (session) => this.#resume(session));
    try {
      this.#files.refresh();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#files.close();
  }

  get kind(): SegmentHead['kind'] {
    return this.#files.kind;
  }

  /** Bytes of the log that were read to make or extend the index. */
  get built(): number {
    return this.#files.built;
  }

  /** Reads what was added to the log: see {@link IndexedFiles.refresh}. */
  refresh(): boolean | 'replaced' {
    return this.#files.refresh();
  }

  #resume(session: string): Played | undefined {
    const last = this.#files.partsOf(session).at(-1)?.here;
    if (last === undefined) return undefined;
    const { play } = this.#play(session, { seq: Number.MAX_SAFE_INTEGER }, undefined);
    const { run, policy, at, time, closed } = last;
    return playedFrom({ play, run, policy, at, time, closed: closed !== undefined && closed !== 'stopped' });
  }

  /** The sessions, in the order in which they begin; of those with the same id the last one. */
  get sessions(): LoggedSession[] {
    const ids = new Set<string>();
    let time = 0;
    for (const { segments } of this.#files.all) {
      for (const { head } of segments) {
        for (const { session } of head.sessions) ids.add(session);
        time = Math.max(time, head.time);
      }
    }
    return [...ids].map((session) => {
      const parts = this.#files.partsOf(session);
      const { here: last } = parts.at(-1)!;
      const { run, policy, seq, at, closed, problem } = last;
      const differs = parts.find(({ here }) => here.differs !== undefined)?.here.differs;
      const gaps = parts.flatMap(({ here }) => here.gaps);
      const end = this.kind === 'events' ? at : at + Math.max(0, time - last.time);
      return { session, run, policy, first: parts[0]!.here.seqs[0]!, seq, at, end, gaps, closed, problem, differs };
    });
  }

  /** Lines that the server reports as dropped, and files that end in the middle of a line. */
  get lacks(): { droppedLines: number; tornFiles: number } {
    const heads = this.#files.all.map(({ segments }) => segments.map(({ head }) => head));
    return {
      droppedLines: heads.flat().reduce((sum, one) => sum + one.droppedLines, 0),
      tornFiles: heads.filter((one) => one.at(-1)?.torn).length,
    };
  }

  /** Bytes of the log, its events, and bytes of the index. */
  get sizes(): { log: number; events: number; index: number } {
    const segments = this.#files.all.flatMap((file) => file.segments);
    return {
      log: this.#files.all.reduce((sum, { size }) => sum + size, 0),
      events: segments.reduce((sum, { head }) => sum + head.events, 0),
      index: segments.reduce((sum, one) => sum + one.bytes, 0),
    };
  }

  /**
   * Returns the last session with an id at a place. The result is good until the next call, which may play it on.
   *
   * It is played from the nearest of: the state that was asked for last, one that was saved on the way to it, one of the index.
   */
  stateAt(session: string, place: Place): SessionPlay {
    const before = 'seq' in place ? this.#playing : undefined;
    const playing = this.#play(session, place, before);
    this.#playing = playing;
    return playing.play;
  }

  /** @param before - what may be played on */
  #play(session: string, place: Place, before: Playing | undefined): Playing {
    const parts = this.#files.partsOf(session);
    if (parts.length === 0) refuse('unknown_id', 'session', 'a session of the log', session);
    const { run } = parts[0]!.here;
    const known = before?.session === session && before.run === run ? before : undefined;
    let playing = this.#start(parts, place, known);
    // Steps back follow each other.
    const isBack = known !== undefined && 'seq' in place && place.seq < known.play.seq;
    const stop = isBack ? place.seq - stepsBack : -1;
    const [number, offset] = playing === undefined ? [-1, 0] : [this.#files.all.indexOf(playing.file), playing.offset];
    for (const part of parts) {
      const { file, segment } = part;
      const here = this.#files.all.indexOf(file);
      if (here < number || (here === number && segment.head.to <= offset)) continue;
      for (const { line, to } of this.#lines(part, here === number ? offset : 0, () => playing?.play.seq)) {
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

  /** Returns the nearest state before a place from which it can be played; `undefined` where that is the beginning of the log. */
  #start(parts: readonly Part[], place: Place, known: Playing | undefined): Playing | undefined {
    const restore = this.#restore;
    const isBefore = ({ seq, at }: { seq: number; at?: number }): boolean =>
      'seq' in place ? seq <= place.seq : (at ?? Number.POSITIVE_INFINITY) <= place.at;
    let from = parts.length - 1;
    let point: Point | undefined;
    for (; from >= 0 && point === undefined; from -= 1) point = parts[from]!.here.points.findLast(isBefore);
    const { file, segment, here } = parts[from + 1]!;
    const { session, run } = here;
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

  /** Returns the lines of a session in a segment from an offset on, its opening lines and its events, each with where it ends. */
  *#lines({ file, segment: { head }, here }: Part, from: number, seq: () => number | undefined) {
    for (const block of here.blocks) {
      const [begin, end] = [head.blocks[block]!, head.blocks[block + 1] ?? head.to];
      if (end <= from) continue;
      for (const { text, ended, ...place } of linesIn(file.name, file.file, Math.max(begin, here.from, from), end)) {
        const where = () => file.name;
        const at = { where, isLazy: ended };
        const line =
          this.kind === 'decisions'
            ? parseLogLine(text, at)
            : parseEventLine(text, place.from === 0 ? undefined : seq(), '', at);
        if ((line.kind === 'event' || line.kind === 'session') && line.session === here.session)
          yield { line, to: place.to };
      }
    }
  }

  /**
   * Returns the blocks of the log with events of a session, in the order in which they are met from an event on.
   *
   * @param from - number of an event: the first block may have it
   * @param back - whether to go back
   * @param id - only those that mention this id
   */
  *blocksOf(session: string, from: number, back: boolean, id?: string): Generator<LineBlock> {
    const parts = this.#files.partsOf(session);
    for (const part of back ? parts.reverse() : parts) {
      const { file, segment, here } = part;
      const { blocks, seqs } = here;
      const wanted = id === undefined ? undefined : new Set(segment.blocksOf(id));
      const places = blocks.map((_, place) => place);
      for (const place of back ? places.reverse() : places) {
        const block = blocks[place]!;
        // The number of its last event, as far as that is known.
        const last = seqs[place + 1] ?? here.seq;
        if (back ? seqs[place]! >= from : last < from) continue;
        if (wanted !== undefined && !wanted.has(block)) continue;
        const [begin, end] = [segment.head.blocks[block]!, segment.head.blocks[block + 1] ?? segment.head.to];
        yield {
          bytes: () => Buffer.concat([...chunksOf(file.file, begin, end)].map((chunk) => Buffer.from(chunk))),
          events: () => this.#eventsIn({ ...part, here: { ...here, blocks: [block] } }, seqs[place]!),
        };
      }
    }
  }

  #eventsIn(part: Part, before: number): FoundLine[] {
    const found: FoundLine[] = [];
    let seq = before;
    for (const { line } of this.#lines(part, 0, () => seq)) {
      seq = line.seq;
      if (line.kind === 'event') found.push(line);
    }
    return found;
  }

  /**
   * Returns the events of a session that mention an id, or whose decisions do, newest first.
   *
   * @param until - number of the last event to look at
   */
  *linesOf(session: string, id: string, until = Number.MAX_SAFE_INTEGER): Generator<FoundLine> {
    for (const block of this.blocksOf(session, until, true, id)) {
      const found = block.events().filter((line) => line.seq <= until && mentions(line, id));
      yield* found.reverse();
    }
  }

  /** Whether the log mentions an id. */
  hasId(id: string): boolean {
    return this.#files.all.some(({ segments }) => segments.some((segment) => segment.blocksOf(id).length > 0));
  }

  /** Returns the id of the log that is nearest to one that it does not have. Ids of requests, which are many, answer only for those. */
  nearestId(id: string): string | undefined {
    const ids = new Set<string>();
    const isRequest = id.includes('#');
    for (const { segments } of this.#files.all) {
      for (const segment of segments) {
        for (const one of segment.ids) {
          const isLike =
            one.includes('#') === isRequest && (!isRequest || one.slice(0, likeness) === id.slice(0, likeness));
          if (isLike && ids.size < mostCompared) ids.add(one);
        }
      }
    }
    return nearest(id, ids);
  }
}

function mentions(line: FoundLine, id: string): boolean {
  let isHere = false;
  eachIdOf(line, (one) => {
    if (one === id) isHere = true;
  });
  return isHere;
}
