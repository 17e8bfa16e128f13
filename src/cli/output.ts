/** What the commands have in common: exit codes, errors, and where to write. */
import { isPolicyError } from '../errors.ts';

/** Exit codes: 0 done, 1 failed, 2 wrong use or bad input. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2 } as const;

/** What the system says of a path that the user gave. */
const pathErrors = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EROFS', 'ENAMETOOLONG']);

/** What the system says of an address that cannot be listened at; who has the port is not the user's mistake. */
const addressErrors = new Set(['EADDRINUSE', 'EADDRNOTAVAIL']);

/** Results go to standard output, everything else to standard error. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A result as one JSON object. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Whether standard output is a terminal that may be coloured (https://no-color.org). */
export function coloured(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR;
}

/** Says what went wrong and gives the exit code: bad input is the user's, anything else is ours. */
export function reportError(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  if (isPolicyError(error) && error.code !== 'internal') {
    process.stderr.write(`rollflex: ${message} (${error.code})\n`);
    return exitCodes.wrongUse;
  }
  if (pathErrors.has((error as { code?: string } | null)?.code ?? '')) {
    process.stderr.write(`rollflex: ${message}\n`);
    return exitCodes.wrongUse;
  }
  if (addressErrors.has((error as { code?: string } | null)?.code ?? '')) {
    process.stderr.write(`rollflex: ${message}\n`);
    return exitCodes.failed;
  }
  process.stderr.write(`rollflex: ${error instanceof Error ? (error.stack ?? message) : message}\n`);
  return exitCodes.failed;
}

/** A reader that leaves early (`| head`) is no error: there is nobody left to tell. */
export function leaveQuietly(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done);
      throw error;
    });
  }
}
