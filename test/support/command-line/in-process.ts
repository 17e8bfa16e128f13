/** The command line within the process of a test, where a command takes a third of the time that a process of its own takes. */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main } from '../../../src/cli/main.ts';
import { reportError } from '../../../src/cli/output.ts';
import { type Done, root } from './process.ts';

type Write = typeof process.stdout.write;

/** What is written while something runs. */
async function written(run: () => Promise<number>): Promise<Done> {
  const said = { out: '', err: '' };
  const { stdout, stderr } = process;
  const before = { out: stdout.write, err: stderr.write };
  const into = (stream: keyof typeof said): Write =>
    ((text: string) => {
      said[stream] += String(text);
      return true;
    }) as Write;
  stdout.write = into('out');
  stderr.write = into('err');
  try {
    const code = await run();
    return { code, ...said };
  } finally {
    stdout.write = before.out;
    stderr.write = before.err;
  }
}

/** Runs the function behind a command; an error is reported as the command line reports it. */
export const captured = (run: () => unknown): Promise<Done> =>
  written(async () => {
    try {
      await run();
      return 0;
    } catch (error) {
      return reportError(error);
    }
  });

async function runBy(run: typeof main, args: readonly string[]): Promise<Done> {
  return written(async () => {
    const { argv, exitCode } = process;
    process.argv = ['node', 'rollflex', ...args];
    process.exitCode = 0;
    try {
      await run(args);
      return Number(process.exitCode);
    } finally {
      Object.assign(process, { argv, exitCode });
    }
  });
}

/** Runs a command line by the source. */
export const runInProcess = (...args: string[]): Promise<Done> => runBy(main, args);

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in a folder by the bundle that `rollflex` of `process.ts` starts, with its threads and what else stands
 * beside it. One runs at a time. What reads standard input, or is stopped, needs a process of its own.
 */
export function rollflexIn(folder: string, ...args: string[]): Promise<Done> {
  const done = last.then(async () => {
    const file = join(dirname(process.env.ROLLFLEX_BUILT_CLI!), 'main.js');
    const built: { main: typeof main } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const before = process.cwd();
    process.chdir(folder);
    try {
      return await runBy(built.main, args);
    } finally {
      process.chdir(before);
    }
  });
  last = done.catch(() => undefined);
  return done;
}

/** The same in the root of the repository. */
export const rollflex = (...args: string[]): Promise<Done> => rollflexIn(root, ...args);
