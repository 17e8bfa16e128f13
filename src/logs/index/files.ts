/** The files of a log, each with the segments of its index, which are made once and go on where a file grows. */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { markOf, openingIn } from '../format/session-names.ts';
import type { PlayedPolicy } from '../replay/play.ts';
import { FileBuilding } from './build.ts';
import { isEventLog, logPaths } from './open.ts';
import { type BuiltFile, defaultGrain, type Grain, type Played } from './played.ts';
import { digestOf, type Segment, type SegmentHead, type SegmentSession } from './segment.ts';
import { SegmentStore } from './store.ts';

/** Options for reading a log with its index. */
export interface IndexOptions {
  restore(snapshot: unknown): PlayedPolicy;
  /** Names what makes states: an index of another writer is built again. */
  readonly writer: string;
  /** Folder for the index; beside the log if absent. */
  readonly cache?: string | undefined;
  /** Size of a log, in bytes, below which the index is not stored (default 4 MiB), because making it takes no time. */
  readonly leastBytes?: number;
  /** Lengths of the parts; tests use short ones. */
  readonly grain?: Grain;
  /** Called with the bytes read so far and the bytes to read in total. */
  readonly progress?: (done: number, all: number) => void;
}

/** A file of a log. */
export interface IndexedFile extends BuiltFile {
  readonly path: string;
  readonly segments: Segment[];
  readonly store: SegmentStore | undefined;
  /** The builder that continues when the file grows, and whether the last segment is unfinished. */
  building?: FileBuilding;
  isOpen: boolean;
}

/** Where a session is in a segment. */
export interface SessionInSegment {
  readonly file: IndexedFile;
  readonly segment: Segment;
  readonly here: SegmentSession;
}

const defaultLeastBytes = 4 << 20;

export class IndexedFiles {
  readonly kind: SegmentHead['kind'];
  readonly all: IndexedFile[] = [];
  readonly #paths: readonly string[];
  readonly #options: IndexOptions;
  readonly #resume: (session: string) => Played | undefined;
  readonly #plays = new Map<string, Played>();
  /** Bytes of the log that were read to make or extend the index. */
  built = 0;

  /** @param resume - returns a session in its state after the existing segments */
  constructor(paths: readonly string[], options: IndexOptions, resume: (session: string) => Played | undefined) {
    const [first, ...others] = logPaths(paths);
    this.#paths = paths;
    this.#options = options;
    this.#resume = resume;
    this.kind = first !== undefined && others.length === 0 && isEventLog(first.path) ? 'events' : 'decisions';
  }

  close(): void {
    for (const { file } of this.all.splice(0)) closeSync(file);
  }

  /**
   * Reads the files of the log, and on later calls what was added, in known and in new files.
   *
   * @returns whether anything was new; `replaced` if another log has taken the place of this one, which has to be opened again
   * @throws PolicyError `invalid_input` for a broken line, with its file and number; the system's error
   */
  refresh(): boolean | 'replaced' {
    let isNew = false;
    for (const file of this.all) {
      const { size, mtimeMs, ino } = fstatSync(file.file);
      const now = statSync(file.path, { throwIfNoEntry: false });
      // A file that the server has deleted stays open, and its content stays known.
      if (size < file.size || (now !== undefined && now.ino !== ino)) return 'replaced';
      if (size === file.size) continue;
      Object.assign(file, { size, modified: mtimeMs });
      this.#extend(file, size);
      isNew = true;
    }
    const known = new Set(this.all.map(({ path }) => path));
    const added = logPaths(this.#paths).filter(({ path }) => !known.has(path));
    const bytes = added.reduce((sum, { path }) => sum + statSync(path).size, 0);
    for (const { path, name } of added) this.#open(path, name, bytes);
    return isNew || added.length > 0;
  }

  /** Opens a file, and makes or extends its index. */
  #open(path: string, name: string, all: number): void {
    const { writer, cache, grain = defaultGrain, leastBytes = defaultLeastBytes } = this.#options;
    const file = openSync(path, 'r');
    const { size, mtimeMs: modified } = fstatSync(file);
    const store = all >= leastBytes ? new SegmentStore(path, cache) : undefined;
    const after = `${writer} ${this.all.at(-1)?.name ?? ''}`;
    const { kind } = this;
    const one = { path, name, file, size, modified, kind, writer: after, grain, segments: [], store, isOpen: false };
    this.all.push(one);
    this.#load(one);
    this.#extend(one, all);
  }

  /** Takes the segments that were stored. */
  #load(file: IndexedFile): void {
    const { segments, store } = file;
    for (let next = store?.read(0); next !== undefined; next = store?.read(segments.length)) {
      // The log has not only grown, so it may be another log that begins alike.
      if (!isValid(next.head, file, segments.at(-1)?.head.to ?? 0)) {
        segments.length = 0;
        break;
      }
      segments.push(next);
    }
    // Sessions that were played in earlier files are older than the segments of this file.
    if (segments.length > 0) this.#plays.clear();
  }

  /** Reads the part of a file that its segments do not cover yet. */
  #extend(file: IndexedFile, all: number): void {
    const { segments, store } = file;
    const isFirst = file.building === undefined;
    if (isFirst) {
      const last = segments.at(-1)?.head;
      if (last !== undefined && (last.to === file.size || (last.torn && last.size === file.size))) return;
      // The log has grown, so its last segment is made again.
      if (last !== undefined && (last.size <= last.to || last.torn)) segments.pop();
      store?.trim(segments.length);
      const { restore } = this.#options;
      const context = { restore, plays: this.#plays, resume: this.#resume };
      file.building = new FileBuilding(file, context, segments.at(-1)?.head.to ?? 0, linesOf(segments));
    }
    if (file.isOpen) segments.pop();
    file.isOpen = false;
    const from = file.building!.to;
    for (const { segment, isWhole } of file.building!.grow()) {
      // For a log that is being followed, only complete segments are written.
      if (isWhole || isFirst) store?.write(segments.length, segment);
      segments.push(segment);
      file.isOpen = !isWhole;
      this.built += segment.head.to - Math.max(from, segment.head.from);
      this.#options.progress?.(this.built, all);
    }
  }

  /**
   * Returns where a session is, from the beginning of the log.
   *
   * @param run - number among the sessions with this id; the last one if absent
   */
  segmentsOf(id: string, run?: number): SessionInSegment[] {
    const segments: SessionInSegment[] = [];
    for (const file of this.all) {
      for (const segment of file.segments) {
        for (const here of segment.head.sessions) if (here.session === id) segments.push({ file, segment, here });
      }
    }
    const wanted = run ?? segments.at(-1)?.here.run;
    return segments.filter(({ here }) => here.run === wanted);
  }

  /** Returns where a session with a name is: the name is an id, or an id with the number of an opening. */
  segmentsNamed(name: string): SessionInSegment[] {
    const { id, run } = openingIn(name, this.mark);
    return this.segmentsOf(id, run);
  }

  /** Separator between an id and the number of an opening. */
  get mark(): string {
    const heads = this.all.flatMap(({ segments }) => segments.map(({ head }) => head));
    return markOf(heads.flatMap(({ sessions }) => sessions.map(({ session }) => session)));
  }
}

const linesOf = (segments: readonly Segment[]): number => {
  const last = segments.at(-1)?.head;
  return last === undefined ? 0 : last.linesBefore + last.lines;
};

/** Whether a segment belongs to the present state of this file. */
function isValid(head: SegmentHead, { writer, kind, size, modified, file }: IndexedFile, from: number): boolean {
  if (head.writer !== writer || head.kind !== kind || head.from !== from || size < head.to) return false;
  return (modified === head.modified || size > head.size) && digestOf(file, head.to) === head.digest;
}
