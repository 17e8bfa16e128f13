/** The command line, run as a user runs it: that of the installed package, or of the product that `ROLLFLEX_PRODUCT` names. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));
const installed = process.env.ROLLFLEX_INSTALLED;
/** The folder of `cli.js`. */
const product = process.env.ROLLFLEX_PRODUCT ?? (installed && join(installed, 'dist'));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
/** What Node is given before the arguments; the sources where it is no test that runs, but a benchmark. */
export const entry =
  product === undefined ? ['--import', tsx, join(root, 'src/cli/bin.ts')] : [resolve(root, product, 'cli.js')];
/** The same with the arguments. */
export const commandOf = (args: readonly string[]): string[] => [...entry, ...args];

/** Copies a module that imports `rollflex` into a folder in which that is installed; returns its path there. */
export function asUsersModule(folder: string, file: string): string {
  if (installed === undefined) return file;
  const packages = join(folder, 'node_modules');
  mkdirSync(packages, { recursive: true });
  if (!existsSync(join(packages, 'rollflex'))) symlinkSync(installed, join(packages, 'rollflex'));
  const copy = join(folder, basename(file));
  copyFileSync(file, copy);
  return copy;
}

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
