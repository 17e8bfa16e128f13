/** What the commands have in common: exit codes, errors, and the one way by which text reaches a terminal. */
import { fstatSync } from 'node:fs';
import { oneLine, printable } from '../core/printable.ts';
import { isPolicyError } from '../errors.ts';
import { Interrupted, uncut } from './interrupt.ts';

/** Exit codes: 0 done, 1 failed, 2 wrong use or bad input, 130 stopped by Ctrl-C. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const;

/** What the system says of a path that the user gave. */
const pathErrors = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EROFS', 'ENAMETOOLONG']);

/** Stands before a line of a head. Whoever puts it into a name makes a line bold, and no more. */
const mark = '\u0001';
const [bold, plain] = ['\u001b[1m', '\u001b[22m'];

/** Whether standard output is a terminal that may be coloured (https://no-color.org). */
const coloured = (): boolean => process.stdout.isTTY === true && !process.env.NO_COLOR;

/** Lines of a head: bold on a terminal, by {@link print}. */
export const headed = (lines: readonly string[]): string[] =>
  lines.map((line) => (coloured() ? `${mark}${line}` : line));

const styled = (line: string): string =>
  line.startsWith(mark) && coloured() ? `${bold}${printable(line.slice(mark.length))}${plain}` : printable(line);

/** Results go to standard output, everything else to standard error. */
export function print(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(`${text.split('\n').map(styled).join('\n')}\n`);
}

/** A result as one JSON object; in a file it is whole. */
export function printJson(value: unknown): void {
  const write = (): void => void process.stdout.write(`${printable(JSON.stringify(value))}\n`);
  if (fstatSync(process.stdout.fd).isFile()) uncut(write);
  else write();
}

/** A line for people who watch, on standard error. */
export function say(text: string): void {
  process.stderr.write(`rollflex: ${oneLine(text)}\n`);
}

/** What the parser of the command line writes. It repeats arguments, and a file that `*` has found is one, too. */
export const commanderOutput = {
  writeOut: (text: string): void => void process.stdout.write(printable(text)),
  writeErr: (text: string): void => {
    const quoted = process.argv.reduce((so, one) => so.replaceAll(one, () => oneLine(one)), text);
    process.stderr.write(printable(quoted));
  },
};

/** Says what went wrong and gives the exit code: bad input is the user's, anything else is ours. */
export function reportError(error: unknown): number {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  const message = error instanceof Error ? error.message : String(error);
  if (isPolicyError(error) && error.code !== 'internal') {
    say(`${message} (${error.code})`);
    return exitCodes.wrongUse;
  }
  const { code = '', errno } = (error ?? {}) as NodeJS.ErrnoException;
  // What the system refuses is said in a line: a full disk, or a port that somebody has, is no defect of ours.
  if (errno !== undefined) say(message);
  else
    process.stderr.write(`${printable(`rollflex: ${error instanceof Error ? (error.stack ?? message) : message}`)}\n`);
  return pathErrors.has(code) ? exitCodes.wrongUse : exitCodes.failed;
}

/** A reader that leaves early (`| head`) is no error: there is nobody left to tell. */
export function leaveQuietly(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done);
      if (stream === process.stdout) say(`standard output: ${error.message}`);
      process.exit(exitCodes.failed);
    });
  }
}
