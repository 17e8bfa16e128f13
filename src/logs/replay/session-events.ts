/**
 * The events of one session in a log, each once and in order. If a server has restarted from an older state, the first occurrence
 * counts.
 */

import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { LogLineOf, ReadLine } from '../format/decision-log.ts';

/** An event of a log with its decisions. */
export interface LoggedEvent {
  /** File and line, as `name:line`. */
  readonly where: string;
  /** How often the session had been closed and opened again before. */
  readonly life: number;
  /** Number of the event in its session, from 1. */
  readonly seq: number;
  readonly event: LooseEvent;
  readonly decisions: readonly AnyDecision[];
}

/** Reads the events of one session. */
export class SessionEvents {
  readonly #lines: Iterator<ReadLine>;
  #life = 0;
  #seq = -1;
  #isClosed = false;
  #opening: LogLineOf<'session'> | undefined;

  /** Takes the lines of one session. */
  constructor(lines: Iterable<ReadLine>) {
    this.#lines = lines[Symbol.iterator]();
  }

  /** The first opening line of the session, once the first event is read. */
  get opening(): LogLineOf<'session'> | undefined {
    return this.#opening;
  }

  /** Returns the next event; nothing at the end of the log. */
  next(): LoggedEvent | undefined {
    for (let read = this.#lines.next(); !read.done; read = this.#lines.next()) {
      const { where, line } = read.value;
      if (line === 'torn') continue;
      if (line.kind === 'closed') this.#isClosed = line.reason !== 'stopped';
      else if (line.kind === 'session') this.#open(line);
      else if (line.kind === 'event' && line.seq > this.#seq) {
        this.#seq = line.seq;
        const { seq, event, decisions } = line;
        return {
          where,
          life: this.#life,
          seq,
          event: event as LooseEvent,
          decisions: decisions as unknown as AnyDecision[],
        };
      }
    }
    return undefined;
  }

  #open(line: LogLineOf<'session'>): void {
    this.#opening ??= line;
    const isAnew = this.#isClosed || (line.seq === 0 && this.#seq > 0);
    if (isAnew) {
      this.#life += 1;
      this.#seq = -1;
    }
    this.#isClosed = false;
  }
}
