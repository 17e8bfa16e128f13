/** The command line, run as a user runs it. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const source = ['--import', tsx, join(root, 'src/cli/bin.ts')];
const built = process.env.ROLLFLEX_BUILT_CLI;
/** What Node is given before the arguments: the file that this run of the tests has made, or else the source. */
export const entry = built === undefined ? source : [built];
/** The same with the arguments: policies of a test import the source, as does the command line that takes them. */
export const commandOf = (args: readonly string[]): string[] => [
  ...(args.includes('--policies') ? source : entry),
  ...args,
];

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
    const child = execFile(process.execPath, commandOf(args), options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    // A command that is refused at once does not read its input.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
  });
}

/** Runs a command. */
export const rollflex = (...args: string[]): Promise<Done> => rollflexOn('', ...args);
