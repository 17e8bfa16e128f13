/** The report of sessions in shadow mode, from a decision log. */

import { PolicyError } from '../../errors.ts';
import type { LogLineOf, ReadLine } from '../../logs/format/decision-log.ts';
import type { AdaptiveTpConfig } from '../../policies/adaptive-tp/index.ts';
import type { GpuScaleDownConfig } from '../../policies/gpu-scale-down/index.ts';
import { TpBook } from './adaptive-tp.ts';
import { AnyBook, type ShadowBook } from './book.ts';
import { ScaleDownBook } from './gpu-scale-down.ts';
import type { ShadowCounts } from './pairs.ts';
import { TimeoutBook } from './sandbox-timeout.ts';

/** The findings in one session. */
export interface ShadowSession {
  /** Id of the session. */
  readonly session: string;
  /** Id of the policy. */
  readonly policy: string;
  /** Number of events that the session received. */
  readonly events: number;
  /** Number of events missing in the log, so that decisions on them are missing on one side. */
  readonly missingEvents: number;
  /** Agreement and differences, by name of the decision. */
  readonly decisions: readonly ShadowCounts[];
  /** The estimated value of the differences; null for a policy without such an estimate. */
  readonly worth: object | null;
}

/** The findings in a log. */
export interface ShadowReport {
  /** The sessions in shadow mode, in the order of their opening. */
  readonly sessions: readonly ShadowSession[];
  /** Number of lines that the server has dropped; they may include decisions of the host. */
  readonly droppedLines: number;
}

interface Reading {
  readonly session: string;
  readonly policy: string;
  readonly book: ShadowBook;
  seq: number;
  events: number;
  missing: number;
}

/** Returns the book for a session; `undefined` if the policy's book needs the configuration and the log lacks it. */
function bookOf({ policy, snapshot }: LogLineOf<'session'>): ShadowBook | undefined {
  const config = snapshot?.config;
  if (policy === 'sandbox-timeout') return new TimeoutBook();
  if (policy === 'adaptive-tp') return config === undefined ? undefined : new TpBook(config as AdaptiveTpConfig);
  if (policy === 'gpu-scale-down')
    return config === undefined ? undefined : new ScaleDownBook(config as GpuScaleDownConfig);
  return new AnyBook();
}

/**
 * Compares the decisions of policies with those of their hosts.
 *
 * @param only - the session to report; by default, all sessions in shadow mode
 * @throws PolicyError `unknown_id` for an unknown session, `invalid_input` if no session was in shadow mode
 */
export function shadowReport(lines: Iterable<ReadLine>, only?: string): ShadowReport {
  const reading = new Readings();
  const others = new Set<string>();
  let droppedLines = 0;
  for (const { where, line } of lines) {
    if (line === 'torn' || line.kind === 'log' || line.kind === 'owes') continue;
    if (line.kind === 'dropped') droppedLines += line.lines;
    else if (only !== undefined && line.session !== only) continue;
    else if (line.kind === 'session' && !line.shadow) others.add(line.session);
    else reading.read(line, where);
  }
  const sessions = reading.sessions();
  if (sessions.length === 0) throw noSession(only, others);
  return { sessions, droppedLines };
}

function noSession(only: string | undefined, others: ReadonlySet<string>): PolicyError {
  const expected = 'a session that was opened with shadow: true';
  if (only !== undefined && !others.has(only)) {
    return new PolicyError('unknown_id', { expected: 'a session of the log', got: only, path: 'session' });
  }
  return new PolicyError('invalid_input', { expected, got: only ?? `${others.size} others`, path: 'session' });
}

class Readings {
  readonly #all: Reading[] = [];
  readonly #open = new Map<string, Reading>();

  read(line: LogLineOf<'session' | 'event' | 'decided' | 'refused' | 'closed'>, where: string): void {
    const reading = this.#open.get(line.session);
    if (line.kind === 'session' && reading?.policy !== line.policy) return this.#begin(line);
    if (reading === undefined) return;
    reading.missing += Math.max(0, line.seq - (line.kind === 'event' ? 1 : 0) - reading.seq);
    reading.seq = line.seq;
    if (line.kind === 'event') {
      reading.events += 1;
      reading.book.event(line, where);
    } else if (line.kind === 'decided') reading.book.decided(line);
    // After this line, the id means another session; a session that only stopped continues.
    else if (line.kind === 'closed' && line.reason !== 'stopped') this.#open.delete(line.session);
  }

  sessions(): ShadowSession[] {
    return this.#all.map(({ session, policy, book, events, missing }) => ({
      session,
      policy,
      events,
      missingEvents: missing,
      decisions: book.counts(),
      worth: book.worth(),
    }));
  }

  #begin(line: LogLineOf<'session'>): void {
    const book = bookOf(line);
    if (book === undefined) return;
    const { session, policy, seq } = line;
    const reading = { session, policy, book, seq, events: 0, missing: 0 };
    this.#all.push(reading);
    this.#open.set(session, reading);
  }
}
