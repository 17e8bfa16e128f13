/** The command line, run as a user runs it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
/** What Node is given before the arguments. */
export const entry = ['--import', 'tsx', join(root, 'src/cli/main.ts')];

/** What a command printed, and how it ended. */
export interface Done {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command with something on standard input. */
export function rollflexOn(input: string, ...args: string[]): Promise<Done> {
  const options = { cwd: root, env: { ...process.env, COLUMNS: '100', FORCE_COLOR: '0' } };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...entry, ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    // A command that is refused at once does not read its input.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
  });
}

/** Runs a command. */
export const rollflex = (...args: string[]): Promise<Done> => rollflexOn('', ...args);
