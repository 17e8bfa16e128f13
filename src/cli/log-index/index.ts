/**
 * The index of a log: made once, extended where the log has grown, and made anew where the log is another one. It answers the state
 * at any event, the lines that mention an id, and what is missing.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { LogLineOf } from '../../core/decision-log.ts';
import { eachIdOf, parseEventLine, parseLogLine } from '../../core/log-line.ts';
import { type PlayedPolicy, SessionPlay } from '../../core/log-play.ts';
import { nearest } from '../../core/nearest.ts';
import type { LogGap } from '../../core/replay-log.ts';
import { refuse } from '../../errors.ts';
import { isEventLog, logPaths } from '../log-files.ts';
import { type BuildContext, type BuiltFile, buildSegments, defaultGrain, type Grain, type Played } from './build.ts';
import { linesIn } from './lines.ts';
import { digestOf, type Point, type Segment, type SegmentHead, type SegmentSession } from './segment.ts';
import { SegmentStore } from './store.ts';

/** How a log is read. */
export interface IndexOptions {
  restore(snapshot: unknown): PlayedPolicy;
  /** Names what makes states: an index of another writer is made anew. */
  readonly writer: string;
  /** Folder for the index; beside the log if absent. */
  readonly cache?: string | undefined;
  /** Bytes of the log below which the index is not kept (default 4 MiB): it is made in no time. */
  readonly leastBytes?: number;
  /** Lengths of its parts; tests have short ones. */
  readonly grain?: Grain;
  /** Called with the bytes that were read of all that must be. */
  readonly progress?: (done: number, all: number) => void;
}

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

/** A place in a session: after an event, or at a time of the session's clock. */
export type Place = { readonly seq: number } | { readonly at: number };

interface IndexedFile extends BuiltFile {
  readonly segments: Segment[];
}

/** Where a session is in a segment. */
interface Part {
  readonly file: IndexedFile;
  readonly segment: Segment;
  readonly here: SegmentSession;
}

const defaultLeastBytes = 4 << 20;
/** Most ids that are compared with a mistyped one, and the letters that those of requests share with it. */
const [mostCompared, likeness] = [50_000, 4];

export class LogIndex {
  readonly kind: SegmentHead['kind'];
  readonly #files: IndexedFile[] = [];
  readonly #options: IndexOptions;
  /** Bytes of the log that were read to make or extend the index. */
  built = 0;

  /**
   * Opens a log, and makes or extends its index.
   *
   * @throws PolicyError `invalid_input` for a broken line, with its file and number, or for files of different kinds; the system's error
   */
  constructor(paths: readonly string[], options: IndexOptions) {
    const found = logPaths(paths);
    this.#options = options;
    this.kind = found.length === 1 && isEventLog(found[0]!.path) ? 'events' : 'decisions';
    try {
      const opened = found.map(({ path, name }) => {
        const file = openSync(path, 'r');
        const { size, mtimeMs } = fstatSync(file);
        return { path, name, file, size, modified: mtimeMs };
      });
      const all = opened.reduce((sum, { size }) => sum + size, 0);
      const kept = all >= (options.leastBytes ?? defaultLeastBytes);
      const plays = new Map<string, Played>();
      let before = '';
      for (const { path, ...file } of opened) {
        const writer = `${options.writer} ${before}`;
        const indexed: IndexedFile = {
          ...file,
          kind: this.kind,
          writer,
          grain: options.grain ?? defaultGrain,
          segments: [],
        };
        this.#files.push(indexed);
        this.#index(indexed, kept ? new SegmentStore(path, options.cache) : undefined, plays, all);
        before = file.name;
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    for (const { file } of this.#files.splice(0)) closeSync(file);
  }

  #index(file: IndexedFile, store: SegmentStore | undefined, plays: Map<string, Played>, all: number): void {
    const { segments } = file;
    for (let next = store?.read(0); next !== undefined; next = store?.read(segments.length)) {
      // The log has not only grown: it may be another one that begins alike.
      if (!isValid(next.head, file, segments.at(-1)?.head.to ?? 0)) {
        segments.length = 0;
        break;
      }
      segments.push(next);
    }
    // What was played in files before it is older than its segments.
    if (segments.length > 0) plays.clear();
    const last = segments.at(-1)?.head;
    if (last !== undefined && (last.to === file.size || (last.torn && last.size === file.size))) return;
    // The log has grown: the segment that was its last one is made anew.
    if (last !== undefined && (last.size <= last.to || last.torn)) segments.pop();
    const [from, lines] = [segments.at(-1)?.head.to ?? 0, linesOf(segments)];
    store?.trim(segments.length);
    const context: BuildContext = {
      restore: this.#options.restore,
      plays,
      resume: (session) => this.#resume(session),
    };
    for (const segment of buildSegments(file, context, from, lines)) {
      store?.write(segments.length, segment);
      segments.push(segment);
      this.built += segment.head.to - segment.head.from;
      this.#options.progress?.(this.built, all);
    }
  }

  #parts(session: string, run?: number): Part[] {
    const parts: Part[] = [];
    for (const file of this.#files) {
      for (const segment of file.segments) {
        for (const here of segment.head.sessions) {
          if (here.session === session && (run === undefined || here.run === run)) parts.push({ file, segment, here });
        }
      }
    }
    const last = parts.at(-1)?.here.run;
    return run === undefined ? parts.filter(({ here }) => here.run === last) : parts;
  }

  #resume(session: string): Played | undefined {
    const last = this.#parts(session).at(-1)?.here;
    if (last === undefined) return undefined;
    const play = this.stateAt(session, { seq: Number.MAX_SAFE_INTEGER });
    const { run, policy, at, time, closed } = last;
    return { play, run, policy, at, time, closed: closed !== undefined && closed !== 'stopped', pending: 0, plain: 0 };
  }

  /** The sessions, in the order in which they begin; of those with the same id the last one. */
  get sessions(): LoggedSession[] {
    const ids = new Set<string>();
    let time = 0;
    for (const { segments } of this.#files) {
      for (const { head } of segments) {
        for (const { session } of head.sessions) ids.add(session);
        time = Math.max(time, head.time);
      }
    }
    return [...ids].map((session) => {
      const parts = this.#parts(session);
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
    const heads = this.#files.map(({ segments }) => segments.map(({ head }) => head));
    return {
      droppedLines: heads.flat().reduce((sum, one) => sum + one.droppedLines, 0),
      tornFiles: heads.filter((one) => one.at(-1)?.torn).length,
    };
  }

  /** Bytes of the log, its events, and bytes of the index. */
  get sizes(): { log: number; events: number; index: number } {
    const segments = this.#files.flatMap((file) => file.segments);
    return {
      log: this.#files.reduce((sum, { size }) => sum + size, 0),
      events: segments.reduce((sum, { head }) => sum + head.events, 0),
      index: segments.reduce((sum, one) => sum + one.bytes, 0),
    };
  }

  /** Returns the last session with an id at a place: played from the nearest state that was saved before. */
  stateAt(session: string, place: Place): SessionPlay {
    const parts = this.#parts(session);
    const isBefore = ({ seq, at }: Point): boolean => ('seq' in place ? seq <= place.seq : at <= place.at);
    let from = parts.length - 1;
    let point: Point | undefined;
    for (; from >= 0; from -= 1) {
      point = parts[from]!.here.points.findLast(isBefore);
      if (point !== undefined) break;
    }
    const first = parts[Math.max(0, from)];
    if (first === undefined) return refuse('unknown_id', 'session', 'a session of the log', session);
    const { restore } = this.#options;
    let play: SessionPlay | undefined =
      point === undefined ? undefined : new SessionPlay(restore, point.seq, first.segment.stateAt(point));
    for (const part of parts.slice(Math.max(0, from))) {
      for (const line of this.#lines(part, point?.offset ?? 0, () => play?.seq)) {
        const at = line.kind === 'event' ? line.event.at : (line.snapshot?.at ?? 0);
        if (play !== undefined && ('seq' in place ? line.seq > place.seq : at > place.at)) return play;
        play ??= new SessionPlay(restore, line.kind === 'session' ? line.seq : line.seq - 1);
        play.take(line, () => part.file.name);
      }
      point = undefined;
    }
    return play!;
  }

  /** Returns the lines of a session in a segment from an offset on, its opening lines and its events. */
  *#lines({ file, segment: { head }, here }: Part, from: number, seq: () => number | undefined) {
    for (const block of here.blocks) {
      const [begin, end] = [head.blocks[block]!, head.blocks[block + 1] ?? head.to];
      if (end <= from) continue;
      for (const line of linesIn(file.name, file.file, Math.max(begin, here.from, from), end)) {
        const where = () => file.name;
        const at = { where, isLazy: line.ended };
        const parsed =
          this.kind === 'decisions'
            ? parseLogLine(line.text, at)
            : parseEventLine(line.text, line.from === 0 ? undefined : seq(), '', at);
        if ((parsed.kind === 'event' || parsed.kind === 'session') && parsed.session === here.session) yield parsed;
      }
    }
  }

  /**
   * Returns the events of a session that mention an id, or whose decisions do, newest first.
   *
   * @param until - number of the last event to look at
   */
  *linesOf(session: string, id: string, until = Number.MAX_SAFE_INTEGER): Generator<FoundLine> {
    for (const part of this.#parts(session).reverse()) {
      const { segment, here } = part;
      for (const block of [...segment.blocksOf(id)].reverse()) {
        const index = here.blocks.indexOf(block);
        if (index < 0 || here.seqs[index]! >= until) continue;
        let seq = here.seqs[index]!;
        const found: FoundLine[] = [];
        for (const line of this.#lines({ ...part, here: { ...here, blocks: [block] } }, 0, () => seq)) {
          seq = line.seq;
          if (line.kind === 'event' && line.seq <= until && mentions(line, id)) found.push(line);
        }
        yield* found.reverse();
      }
    }
  }

  /** Returns the id of the log that is nearest to one that it does not have. Ids of requests, which are many, answer only for those. */
  nearestId(id: string): string | undefined {
    const ids = new Set<string>();
    const isRequest = id.includes('#');
    for (const { segments } of this.#files) {
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

const linesOf = (segments: readonly Segment[]): number => {
  const last = segments.at(-1)?.head;
  return last === undefined ? 0 : last.linesBefore + last.lines;
};

/** Whether a segment is one of this file as it is now. */
function isValid(head: SegmentHead, { writer, kind, size, modified, file }: IndexedFile, from: number): boolean {
  if (head.writer !== writer || head.kind !== kind || head.from !== from || size < head.to) return false;
  return (modified === head.modified || size > head.size) && digestOf(file, head.to) === head.digest;
}
