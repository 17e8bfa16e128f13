/** Functions that all commands share: exit codes, errors, and the only functions that write to a terminal. */
import { fstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { oneLine, printable } from '../../core/ids/printable.ts';
import { caused, isPolicyError } from '../../errors.ts';
import { packageRoot } from '../../logs/index/package.ts';
import { Interrupted, uncut } from './interrupt.ts';
import { inWords, isPathError, isSystemError, reasonOf } from './system-errors.ts';

/** Exit codes: 0 done, 1 failed, 2 wrong use or bad input, 130 stopped by Ctrl-C. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const;

/** Styles of text. Green marks a gain, yellow its cost, red a loss. */
const looks = {
  bold: ['\u0001', 1],
  gain: ['\u0002', 32],
  cost: ['\u0003', 33],
  loss: ['\u0004', 31],
  dim: ['\u0005', 2],
} as const;
/** A style of text. */
export type Look = keyof typeof looks;
const end = '\u0006';
const codes = new Map<string, string>(Object.values(looks).map(([mark, code]) => [mark, `\u001b[${code}m`]));
codes.set(end, '\u001b[0m');
const marks = new RegExp(`([${[...codes.keys()].join('')}])`);

/**
 * Whether standard output is coloured: FORCE_COLOR decides if it is set; otherwise NO_COLOR must be unset, and the terminal must
 * support colour.
 */
function coloured(): boolean {
  const { FORCE_COLOR, NO_COLOR } = process.env;
  // As in Node, empty, 1, 2, 3 and true mean yes.
  if (FORCE_COLOR !== undefined) return ['', '1', '2', '3', 'true'].includes(FORCE_COLOR);
  return process.stdout.isTTY === true && !NO_COLOR && process.stdout.hasColors();
}

/**
 * Styles text, with marks that {@link print} turns into codes of the terminal. Other control characters are made harmless; a name
 * that contains a mark can change the style of text only.
 */
export const look = (how: Look, text: string): string => (coloured() ? `${looks[how][0]}${text}${end}` : text);

/** Columns for text on standard output: those of the terminal, at least 40; 100 if the output goes to a program or a file. */
export const columnsOfOutput = (): number =>
  process.stdout.isTTY === true && process.stdout.columns > 0 ? Math.max(40, process.stdout.columns) : 100;

const styled = (text: string): string =>
  coloured()
    ? text
        .split(marks)
        .map((piece) => codes.get(piece) ?? printable(piece))
        .join('')
    : printable(text);

/** Results go to standard output, everything else to standard error. */
export function print(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(`${styled(text)}\n`);
}

/** Prints a result as one JSON object. The object is never written to a file in part. */
export function printJson(value: unknown): void {
  const write = (): void => void process.stdout.write(`${printable(JSON.stringify(value))}\n`);
  if (fstatSync(process.stdout.fd).isFile()) uncut(write);
  else write();
}

/** Writes a line for people, on standard error. */
export function say(text: string): void {
  process.stderr.write(`rollflex: ${oneLine(text)}\n`);
}

/** Output of the command-line parser. It repeats arguments, which may be the names of any files (the shell expands `*`). */
export const commanderOutput = {
  writeOut: (text: string): void => void process.stdout.write(printable(text)),
  writeErr: (text: string): void => {
    const quoted = process.argv.reduce((so, one) => so.replaceAll(one, () => oneLine(one)), text);
    process.stderr.write(printable(quoted));
  },
};

/** Reports an error and returns the exit code: 2 for bad input of the user, otherwise 1. */
export function reportError(error: unknown): number {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  const message = error instanceof Error ? error.message : String(error);
  if (isPolicyError(error) && error.code !== 'internal') {
    say(`${message} (${error.code})`);
    return exitCodes.wrongUse;
  }
  // Errors of the system, such as a full disk or a port in use, take one line: they are no defect of rollflex.
  if (isSystemError(error)) {
    say(inWords(error));
    return isPathError(error) ? exitCodes.wrongUse : exitCodes.failed;
  }
  sayDefect(error);
  return exitCodes.failed;
}

/** Writes an error that is a defect of rollflex, or of code of the user, with the stacks of it and of what has caused it. */
export function sayDefect(error: unknown): void {
  const own = ofTheUser(error);
  if (own !== undefined) {
    const { message } = error as Error;
    process.stderr.write(`${printable(`rollflex: ${own.where}: ${message}\n${own.cause.stack}`)}\n`);
    return;
  }
  const stacks: string[] = [];
  for (let one = error; one !== undefined && stacks.length < 4; one = one instanceof Error ? one.cause : undefined)
    stacks.push(one instanceof Error ? (one.stack ?? String(one)) : String(caused(one)));
  process.stderr.write(`${printable(`rollflex: ${stacks.join('\ncaused by ')}`)}\n`);
}

/** Returns what code of the user has thrown, and where, if that has caused the error. */
function ofTheUser(error: unknown): { readonly cause: Error; readonly where: string } | undefined {
  if (!isPolicyError(error)) return undefined;
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  if (cause === error) return undefined;
  const [first = ''] = (cause.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  const [, path, line] = /[( ]((?:file:\/\/)?\/[^()]*?|[A-Z]:\\[^()]*?):(\d+):\d+\)?$/.exec(first) ?? [];
  if (path === undefined || /[\\/]node_modules[\\/]|^node:/.test(path)) return undefined;
  const plain = path.replace(/^file:\/\//, '').replace(/\?.*$/, '');
  if (plain.startsWith(join(packageRoot(), 'src')) || plain.startsWith(join(packageRoot(), 'dist'))) return undefined;
  return { cause, where: `${relative(process.cwd(), plain)}:${line}` };
}

let outlasts = false;

/** Lets the command continue after its reader has left, since it still has files to write. */
export function outlastReader(): void {
  outlasts = true;
}

/** Ends the process without an error if the reader leaves early (`| head`). */
export function leaveQuietly(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && outlasts) return;
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done);
      if (stream === process.stdout) say(`standard output: ${reasonOf(error)}`);
      process.exit(exitCodes.failed);
    });
  }
}
