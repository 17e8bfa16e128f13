/** Writes the lines of one session: an opening line per file, and then the events. */

import { printable } from '../../core/ids/printable.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { PolicyError } from '../../errors.ts';
import type { WatchdogNotice } from '../../policies/watchdog/index.ts';
import type { LogLine, LogLineOf } from '../format/decision-log.ts';
import type { LoggedSession, SessionDecisionLog } from './decision-log.ts';

/** Reason why a line was dropped: too much was waiting, the disk refused the line, or it is too long for any file. */
export type DropReason = 'waiting' | 'failed' | 'tooLong';

/** The interface between the log and the lines of one session. */
export interface LineWriter {
  /** A number that changes when sessions must write opening lines again. */
  readonly epoch: number;
  /** Reason why no line is accepted now; undefined if lines are accepted. */
  readonly refusing: DropReason | undefined;
  /** Most bytes of a snapshot at present. */
  readonly snapshotRoom: number;
  now(): number;
  /** Counts the bytes of a text in UTF-8. */
  byteLength(text: string): number;
  /** Writes the opening line of a session, in the same file as the next line; returns false if the line was dropped. */
  begin(text: string): boolean;
  /** Writes a line; returns false if it was dropped. */
  add(line: LogLine): boolean;
  /** Counts a dropped line. */
  drop(reason: DropReason): void;
}

/** The part of a session's opening line before the snapshot. */
type Opening = Omit<LogLineOf<'session'>, 'snapshot'>;

/** Fewest snapshot bytes per id in flight. */
const leastIdBytes = 16;
const longestPath = 200;

/** Writes the lines of one session. */
export class SessionLines implements SessionDecisionLog {
  readonly #session: LoggedSession;
  readonly #log: LineWriter;
  /** Epoch of the last opening line. */
  #said = -1;

  constructor(session: LoggedSession, log: LineWriter) {
    this.#session = session;
    this.#log = log;
  }

  before(): void {
    const log = this.#log;
    if (this.#said === log.epoch || log.refusing !== undefined) return;
    const { id: session, deliver, timers, shadow, policy } = this.#session;
    const { id, version, seq } = policy;
    const time = log.now();
    const line = { kind: 'session', time, session, policy: id, version, deliver, timers, shadow, seq } as const;
    // The line is assembled as text, so that a large state is serialised once.
    const text = `${printable(JSON.stringify(line satisfies Opening)).slice(0, -1)},"snapshot":${this.#snapshot()}}\n`;
    if (log.begin(text)) this.#said = log.epoch;
  }

  applied(event: LooseEvent, decisions: readonly AnyDecision[], producer: string | undefined): void {
    const log = this.#log;
    // Events of a session are useless without its opening line.
    if (this.#said !== log.epoch) return log.drop(log.refusing ?? 'waiting');
    const made = decisions as unknown as LogLineOf<'event'>['decisions'];
    const line = { kind: 'event', ...this.#stamp(producer), event, decisions: made } as const;
    if (!log.add(line)) this.#said = -1;
  }

  decided(at: number, decision: { readonly type: string }, producer: string | undefined): void {
    this.#log.add({ kind: 'decided', ...this.#stamp(producer), at, decision });
  }

  refused({ code, path }: PolicyError, producer: string | undefined): void {
    this.#log.add({ kind: 'refused', ...this.#stamp(producer), code, path: path.slice(0, longestPath) });
  }

  owes(notice: WatchdogNotice): void {
    this.#log.add({ kind: 'owes', ...this.#stamp(undefined), notice: { ...notice } });
  }

  closed(reason: 'closed' | 'replaced' | 'stopped'): void {
    this.#log.add({ kind: 'closed', ...this.#stamp(undefined), reason });
  }

  #stamp(producer: string | undefined) {
    const { id: session, policy } = this.#session;
    const stamp = { time: this.#log.now(), session, seq: policy.seq };
    return producer === undefined ? stamp : { ...stamp, producer };
  }

  /** Returns the state as text; `null` if there is no room for it. */
  #snapshot(): string {
    const log = this.#log;
    const { snapshotRoom } = log;
    if (this.#session.inFlight * leastIdBytes > snapshotRoom) return 'null';
    try {
      const text = printable(JSON.stringify(this.#session.policy.snapshot()));
      return log.byteLength(text) > snapshotRoom ? 'null' : text;
    } catch {
      // The policy is broken, or its state is too long for a string.
      return 'null';
    }
  }
}
