/** Reads an event log of `recordEvents` as the lines of a decision log, so that both are replayed and compared in one way. */
import { refuse } from '../errors.ts';
import { type LogFile, linesOf, logLine, type ReadLine } from './decision-log.ts';
import { snapshotSchema } from './snapshot.ts';
import { parse } from './validate.ts';

/**
 * Reads an event log as one session, named as the file is. A last line that was cut off is no error.
 *
 * @throws PolicyError `invalid_input` with file and line for a broken line, `snapshot_mismatch` for a log without a snapshot
 */
export function* readEventLog(file: LogFile): Generator<ReadLine> {
  const { name: session } = file;
  let seq: number | undefined;
  for (const { text, number, ended } of linesOf(file)) {
    const where = `${session}:${number}`;
    const entry = entryOf(text);
    if (entry === undefined && !ended) {
      yield { where, line: 'torn' };
      return;
    }
    if (entry === undefined) refuse('invalid_input', where, 'a JSON object', text);
    if (seq === undefined) {
      if (entry.snapshot === undefined) refuse('snapshot_mismatch', `${where}.snapshot`, 'a snapshot', undefined);
      const snapshot = parse(snapshotSchema, entry.snapshot, 'snapshot_mismatch', `${where}.snapshot`);
      const { policy, version } = snapshot;
      seq = snapshot.seq;
      const opened = { time: 0, session, policy, version, deliver: 'reply', timers: 'host', shadow: false } as const;
      yield { where, line: { kind: 'session', ...opened, seq, snapshot } };
      continue;
    }
    seq += 1;
    const line = { ...entry, kind: 'event', time: 0, session, seq };
    yield { where, line: parse(logLine, line, 'invalid_input', where) };
  }
}

function entryOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
