/**
 * The index of a log: made once, extended when the log grows, and made again if the log was replaced. The index finds the state
 * at any event, the lines that mention an id, and gaps.
 */

import { nearest } from '../../core/ids/nearest.ts';
import type { ReadLine } from '../format/decision-log.ts';
import { mentions } from '../format/line.ts';
import type { FoundLine, LineBlock, Log, LoggedSession, LogLacks, Place } from '../format/log.ts';
import type { SessionPlay } from '../replay/play.ts';
import { IndexedFiles, type IndexOptions, type SessionInSegment } from './files.ts';
import { chunksOf } from './lines.ts';
import { openLogs } from './open.ts';
import { type Played, playedFrom } from './played.ts';
import { Player, type Playing } from './playing.ts';
import type { SegmentHead } from './segment.ts';
import { linesInSegment } from './segment-lines.ts';

/** Most ids to compare with a mistyped id, and the number of letters that request ids must share with it. */
const [mostCompared, likeness] = [50_000, 4];
export class LogIndex implements Log {
  readonly #paths: readonly string[];
  readonly #options: IndexOptions;
  #files!: IndexedFiles;
  #player!: Player;
  #playing: Playing | undefined;

  /**
   * Opens a log, and makes or extends its index.
   *
   * @throws PolicyError `invalid_input` for a broken line, with its file and number, or for files of different kinds; the system's error
   */
  constructor(paths: readonly string[], options: IndexOptions) {
    this.#paths = paths;
    this.#options = options;
    this.#open();
  }

  #open(): void {
    this.#playing = undefined;
    this.#files = new IndexedFiles(this.#paths, this.#options, (session) => this.#resume(session));
    this.#player = new Player(this.#files, this.#options.restore);
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

  /** Reads what was added to the log; a replaced log is read from its beginning. */
  refresh(): boolean {
    const found = this.#files.refresh();
    if (found !== 'replaced') return found;
    const before = this.#files;
    this.#open();
    before.close();
    return true;
  }

  *lines(): Generator<ReadLine> {
    for (const log of openLogs(this.#paths)) yield* log.lines();
  }

  #resume(session: string): Played | undefined {
    const last = this.#files.segmentsOf(session).at(-1)?.here;
    if (last === undefined) return undefined;
    const { play } = this.#player.play(session, { seq: Number.MAX_SAFE_INTEGER });
    const { run, policy, at, time, closed } = last;
    return playedFrom({ play, run, policy, at, time, closed: closed !== undefined && closed !== 'stopped' });
  }

  get sessions(): LoggedSession[] {
    const runs = new Map<string, number>();
    let time = 0;
    for (const { segments } of this.#files.all) {
      for (const { head } of segments) {
        for (const { session, run } of head.sessions) runs.set(session, run);
        time = Math.max(time, head.time);
      }
    }
    return [...runs].flatMap(([id, last]) =>
      Array.from({ length: last + 1 }, (_, run) => this.#session(id, run, run === last, time)).filter(
        (one) => one !== undefined,
      ),
    );
  }

  #session(id: string, run: number, isLast: boolean, time: number): LoggedSession | undefined {
    const segments = this.#files.segmentsOf(id, run);
    const last = segments.at(-1)?.here;
    // The files from that time may be deleted.
    if (last === undefined) return undefined;
    const { policy, seq, at, problem } = last;
    const differs = segments.find(({ here }) => here.differs !== undefined)?.here.differs;
    const gaps = segments.flatMap(({ here }) => here.gaps);
    // A session that was opened again had ended before.
    const closed = last.closed ?? (isLast ? undefined : 'replaced');
    const end = this.kind === 'events' || !isLast ? at : at + Math.max(0, time - last.time);
    const session = isLast ? id : `${id}${this.#files.mark}${run + 1}`;
    return {
      session,
      run,
      isLast,
      policy,
      first: segments[0]!.here.seqs[0]!,
      seq,
      at,
      end,
      gaps,
      closed,
      problem,
      differs,
    };
  }

  get lacks(): LogLacks {
    const heads = this.#files.all.map(({ segments }) => segments.map(({ head }) => head));
    return {
      droppedLines: heads.flat().reduce((sum, one) => sum + one.droppedLines, 0),
      tornFiles: heads.filter((one) => one.at(-1)?.torn).length,
    };
  }

  /** Bytes of the log, number of events, and bytes of the index. */
  get sizes(): { log: number; events: number; index: number } {
    const segments = this.#files.all.flatMap((file) => file.segments);
    return {
      log: this.#files.all.reduce((sum, { size }) => sum + size, 0),
      events: segments.reduce((sum, { head }) => sum + head.events, 0),
      index: segments.reduce((sum, one) => sum + one.bytes, 0),
    };
  }

  /** Returns a session at a place. The result is valid until the next call, which may play it further. */
  stateAt(session: string, place: Place): SessionPlay {
    const before = 'seq' in place ? this.#playing : undefined;
    const playing = this.#player.play(session, place, before);
    this.#playing = playing;
    return playing.play;
  }

  *blocksOf(session: string, from: number, back: boolean, id?: string): Generator<LineBlock> {
    const segments = this.#files.segmentsNamed(session);
    for (const inSegment of back ? segments.reverse() : segments) {
      const { file, segment, here } = inSegment;
      const { blocks, seqs } = here;
      const wanted = id === undefined ? undefined : new Set(segment.blocksOf(id));
      const indices = blocks.map((_, index) => index);
      for (const index of back ? indices.reverse() : indices) {
        const block = blocks[index]!;
        // Number of the last event, as far as known.
        const last = seqs[index + 1] ?? here.seq;
        if (back ? seqs[index]! >= from : last < from) continue;
        if (wanted !== undefined && !wanted.has(block)) continue;
        const [begin, end] = [segment.head.blocks[block]!, segment.head.blocks[block + 1] ?? segment.head.to];
        yield {
          mayHave: (text) =>
            Buffer.concat([...chunksOf(file.file, begin, end)].map((chunk) => Buffer.from(chunk))).includes(text),
          events: () => eventsIn({ ...inSegment, here: { ...here, blocks: [block] } }, seqs[index]!),
        };
      }
    }
  }

  *linesOf(session: string, id: string, until = Number.MAX_SAFE_INTEGER): Generator<FoundLine> {
    for (const block of this.blocksOf(session, until, true, id)) {
      const found = block.events().filter((line) => line.seq <= until && mentions(line, id));
      yield* found.reverse();
    }
  }

  hasId(id: string): boolean {
    return this.#files.all.some(({ segments }) => segments.some((segment) => segment.blocksOf(id).length > 0));
  }

  /** Returns the id in the log that is nearest to an unknown id. The many request ids answer only for request ids. */
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

function eventsIn(inSegment: SessionInSegment, before: number): FoundLine[] {
  const found: FoundLine[] = [];
  let seq = before;
  for (const { line } of linesInSegment(inSegment, 0, () => seq)) {
    seq = line.seq;
    if (line.kind === 'event') found.push(line);
  }
  return found;
}
