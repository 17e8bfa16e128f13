/**
 * Decision logs of a server: JSON lines in rotated files. Each file begins with a header, and the first line of each session in a
 * file holds a snapshot, so that a file can be read without earlier files.
 */
import { z } from 'zod';
import { snapshotSchema } from '../../core/machine/snapshot.ts';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';

/** Version of the format of the lines. */
export const logFormat = 1;

/** A longer line is refused, because a file without line breaks would fill the memory. */
const longestLine = 256 * 1024 * 1024;
const expectedLine = `a line of less than ${longestLine} characters`;

const count = z.int().nonnegative();
const time = z.number().nonnegative().describe('Unix time on the clock of the server, in seconds.');
const session = z.string().describe('Id of the session.');
const producer = z.string().optional().describe('Who sent it, where the call said so; none for a timer of the server.');
const typed = z.looseObject({ type: z.string(), at: z.number() });

const header = z.strictObject({
  kind: z.literal('log'),
  format: z.int().positive().describe('Version of the lines.'),
  version: z.string().describe('Version of the package.'),
  run: z.string().describe('Names the run of the server.'),
  file: count.describe('Number of the file.'),
  time,
});
const opened = z.strictObject({
  kind: z.literal('session'),
  time,
  session,
  policy: z.string().describe('Id of its policy.'),
  version: z.int().positive().describe('Version of its policy.'),
  deliver: z.enum(['reply', 'stream']),
  timers: z.enum(['host', 'server']),
  shadow: z.boolean().describe('Whether the host decides by itself.'),
  seq: count.describe('Events applied before the lines that follow.'),
  snapshot: snapshotSchema.nullable().describe('The state before the lines that follow; null where it was too large.'),
});
const applied = z.strictObject({
  kind: z.literal('event'),
  time,
  session,
  seq: z.int().positive().describe('Number of the event in its session.'),
  producer,
  event: typed.describe('The event, with its `at`.'),
  decisions: z.array(typed).describe('What the policy decided.'),
});
const decided = z.strictObject({
  kind: z.literal('decided'),
  time,
  session,
  seq: count.describe('Events applied before it.'),
  producer,
  at: z.number(),
  decision: z.looseObject({ type: z.string() }).describe('What the host decided by itself.'),
});
const refused = z.strictObject({
  kind: z.literal('refused'),
  time,
  session,
  seq: count.describe('Events applied before it.'),
  producer,
  code: z.string(),
  path: z.string(),
});
const owes = z.strictObject({
  kind: z.literal('owes'),
  time,
  session,
  seq: count.describe('Events applied before it.'),
  notice: typed.describe(
    'What the watchdog of the server said: `host.owes` or `round.stalled`, on the clock of the server.',
  ),
});
const closed = z.strictObject({
  kind: z.literal('closed'),
  time,
  session,
  seq: count.describe('Events that it had applied.'),
  reason: z.enum(['closed', 'replaced', 'stopped']).describe('`stopped`: with the server.'),
});
const dropped = z.strictObject({
  kind: z.literal('dropped'),
  time,
  lines: z.int().positive().describe('Lines that are missing before this one.'),
  waiting: count.describe('Of these, because too much waited to be written.'),
  failed: count.describe('Of these, because the disk refused them.'),
  tooLong: count.describe('Of these, because a file has no room for one so long.'),
});

export const logLine = z.discriminatedUnion('kind', [header, opened, applied, decided, refused, owes, closed, dropped]);
/** A line of a decision log. */
export type LogLine = z.output<typeof logLine>;
/** The type of lines of one kind, such as `session`. */
export type LogLineOf<K extends LogLine['kind']> = Extract<LogLine, { kind: K }>;

/** A line with its position in the log. */
export interface ReadLine {
  /** File and line, as `name:line`, the line from 1. */
  readonly where: string;
  /** The line, or `torn`: the last line of a file whose writer was killed. */
  readonly line: LogLine | 'torn';
}

/** A file of a log. */
export interface LogFile {
  /** Name of the file, for messages: a line is cited as `name:line`. */
  readonly name: string;
  /** Returns its text, or the pieces of it in order: a file of any length can be read in pieces. */
  read(): string | Iterable<string>;
}

/** Whether a file is a decision log, judged by its first line. */
export function isDecisionLog(firstLine: string): boolean {
  try {
    return (JSON.parse(firstLine) as { kind?: unknown } | null)?.kind === 'log';
  } catch {
    return false;
  }
}

/**
 * Reads the files of a log, one after the other.
 *
 * @throws PolicyError `invalid_input` with file and line for a broken line. A last line that was cut off, by a crash or a full
 * disk, is no error
 */
export function* readDecisionLog(files: Iterable<LogFile>): Generator<ReadLine> {
  for (const file of files) {
    let isFirst = true;
    for (const { text, number, ended } of linesOf(file)) {
      const where = `${file.name}:${number}`;
      if (isFirst && ended && !isDecisionLog(text))
        refuse('invalid_input', where, 'the first line of a decision log', text);
      isFirst = false;
      const line = ended ? lineOf(text, where) : whole(text);
      if (line !== 'torn' && line.kind === 'log' && line.format !== logFormat) {
        refuse('invalid_input', `${where}.format`, `format ${logFormat}`, line.format);
      }
      yield { where, line };
    }
  }
}

/** A line of a text. */
interface SplitLine {
  readonly text: string;
  /** Number of the line, from 1. */
  readonly number: number;
  /** Offset of the first character. */
  readonly from: number;
  /** Whether the line ends with a line break. */
  readonly ended: boolean;
}

/** Returns the lines of a file that are not empty. Throws `limit_exceeded` as {@link splitLines} does. */
export function linesOf(file: LogFile): Generator<SplitLine> {
  const text = file.read();
  return splitLines(typeof text === 'string' ? [text] : text, (number) => `${file.name}:${number}`);
}

/**
 * Returns the lines of a text in pieces that are not empty.
 *
 * @throws PolicyError `limit_exceeded` for a line of 256 MiB or more
 */
export function* splitLines(pieces: Iterable<string>, where: (number: number) => string): Generator<SplitLine> {
  let rest = '';
  let number = 1;
  /** Place of the piece. */
  let begin = 0;
  for (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      const text = rest + piece.slice(from, end);
      if (text !== '') yield { text, number, from: begin + from - rest.length, ended: true };
      rest = '';
      from = end + 1;
      number += 1;
    }
    rest += piece.slice(from);
    begin += piece.length;
    if (rest.length >= longestLine) refuse('limit_exceeded', where(number), expectedLine, `more than ${longestLine}`);
  }
  if (rest !== '') yield { text: rest, number, from: begin - rest.length, ended: false };
}

function lineOf(text: string, where: string): LogLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('invalid_input', where, 'a line of a decision log', text);
  }
  return parse(logLine, value, 'invalid_input', where);
}

/** Parses a last line without a line break, which may still be complete. */
function whole(text: string): LogLine | 'torn' {
  try {
    const found = logLine.safeParse(JSON.parse(text));
    return found.success ? found.data : 'torn';
  } catch {
    return 'torn';
  }
}
