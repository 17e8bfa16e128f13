/** A log in memory, which runs wherever JavaScript does: in a browser, and in a process of Python. */
import { nearest } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import { isDecisionLog, type LogFile, linesOf, type ReadLine, readDecisionLog } from '../format/decision-log.ts';
import type { FoundLine, LineBlock, Log, LoggedSession, LogLacks, Place } from '../format/log.ts';
import { readEventLog } from '../format/read-event-log.ts';
import { markOf, openingIn } from '../format/session-names.ts';
import { MemorySession } from './memory-session.ts';
import { isNewSession, type PlayedPolicy, type SessionPlay, unopened } from './play.ts';

/** Events per block. */
const eventsOfABlock = 500;

export class MemoryLog implements Log {
  readonly kind: Log['kind'];
  readonly #files: readonly LogFile[];
  readonly #restore: (snapshot: unknown) => PlayedPolicy;
  readonly #sessions = new Map<string, MemorySession[]>();
  readonly #lacks = { droppedLines: 0, tornFiles: 0 };
  #time = 0;

  /**
   * @param files - one event log, or the files of a decision log in their order
   * @throws PolicyError `invalid_input` for a broken line, with its file and number
   */
  constructor(files: readonly LogFile[], restore: (snapshot: unknown) => PlayedPolicy) {
    this.#files = files;
    this.#restore = restore;
    this.kind = files.length === 1 && isEvents(files[0]!) ? 'events' : 'decisions';
    for (const one of this.lines()) this.#take(one);
  }

  *lines(): Generator<ReadLine> {
    if (this.kind === 'events') yield* readEventLog(this.#files[0]!);
    else yield* readDecisionLog(this.#files);
  }

  #take({ line, where }: ReadLine): void {
    if (line === 'torn') this.#lacks.tornFiles += 1;
    else if (line.kind !== 'log') {
      this.#time = Math.max(this.#time, line.time);
      if (line.kind === 'dropped') this.#lacks.droppedLines += line.lines;
      else if (line.kind === 'closed') this.#sessions.get(line.session)?.at(-1)?.end(line);
      else if (line.kind === 'session' || line.kind === 'event') {
        const runs = this.#sessions.get(line.session) ?? [];
        const last = runs.at(-1);
        if (line.kind === 'session' && (last === undefined || isNewSession(last, line))) {
          runs.push(new MemorySession(this.#restore, runs.length, line));
          this.#sessions.set(line.session, runs);
        } else if (last === undefined) unopened(where, line.seq);
        runs.at(-1)!.take(line, where);
      }
    }
  }

  get sessions(): LoggedSession[] {
    const mark = this.#mark;
    return [...this.#sessions].flatMap(([id, runs]) =>
      runs.map((run) => this.#session(id, run, run === runs.at(-1), mark)),
    );
  }

  #session(id: string, one: MemorySession, isLast: boolean, mark: string): LoggedSession {
    const { run, policy, first, at, gaps, differs, ended } = one;
    const { seq, problem } = one.play;
    const closed = ended ?? (isLast ? undefined : 'replaced');
    const end = this.kind === 'events' || !isLast ? at : at + Math.max(0, this.#time - one.time);
    const name = this.kind === 'events' ? '' : id;
    const session = isLast ? name : `${name}${mark}${run + 1}`;
    return { session, run, isLast, policy, first, seq, at, end, gaps, closed, problem, differs };
  }

  get #mark(): string {
    return markOf(this.#sessions.keys());
  }

  get lacks(): LogLacks {
    return this.#lacks;
  }

  #find(session: string): MemorySession | undefined {
    if (this.kind === 'events' && session === '') return [...this.#sessions.values()][0]?.at(-1);
    const { id, run = -1 } = openingIn(session, this.#mark);
    return this.#sessions.get(id)?.at(run);
  }

  stateAt(session: string, place: Place): SessionPlay {
    const found = this.#find(session) ?? refuse('unknown_id', 'session', 'a session of the log', session);
    return found.stateAt(place);
  }

  *blocksOf(session: string, from: number, back: boolean, id?: string): Generator<LineBlock> {
    const found = this.#find(session);
    const events = (id === undefined ? found?.events : found?.eventsWith(id)) ?? [];
    const count = Math.ceil(events.length / eventsOfABlock);
    for (let index = 0; index < count; index += 1) {
      const begin = (back ? count - 1 - index : index) * eventsOfABlock;
      const end = Math.min(begin + eventsOfABlock, events.length);
      if (back ? events[begin]!.seq > from : events[end - 1]!.seq < from) continue;
      yield { mayHave: () => true, events: () => events.slice(begin, end) };
    }
  }

  *linesOf(session: string, id: string, until = Number.MAX_SAFE_INTEGER): Generator<FoundLine> {
    const all = this.#find(session)?.eventsWith(id) ?? [];
    for (let at = all.length - 1; at >= 0; at -= 1) if (all[at]!.seq <= until) yield all[at]!;
  }

  get #all(): MemorySession[] {
    return [...this.#sessions.values()].flat();
  }

  hasId(id: string): boolean {
    return this.#all.some((one) => one.hasId(id));
  }

  nearestId(id: string): string | undefined {
    const isRequest = id.includes('#');
    const ids = this.#all.flatMap((one) => [...one.ids].filter((other) => other.includes('#') === isRequest));
    return nearest(id, new Set(ids));
  }

  /** A log in memory does not grow. */
  refresh(): boolean {
    return false;
  }

  close(): void {}
}

function isEvents(file: LogFile): boolean {
  for (const { text } of linesOf(file)) return !isDecisionLog(text);
  return false;
}
