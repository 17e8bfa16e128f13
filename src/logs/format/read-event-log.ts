/**
 * Reads an event log of `recordEvents` as lines of a decision log, so that both kinds of log are replayed and compared in the
 * same way.
 */

import { parse } from '../../core/machine/validate.ts';
import { isPolicyError } from '../../errors.ts';
import { type LogFile, linesOf, logLine, type ReadLine } from './decision-log.ts';
import { parseEventLine } from './line.ts';

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
    let line: ReadLine['line'];
    try {
      const parsed = parseEventLine(text, seq, session, { where: () => where, isLazy: false });
      line = parsed.kind === 'event' ? parse(logLine, parsed, 'invalid_input', where) : parsed;
      seq = parsed.seq;
    } catch (error) {
      if (ended || !isPolicyError(error) || error.code !== 'invalid_input') throw error;
      line = 'torn';
    }
    yield { where, line };
  }
}
