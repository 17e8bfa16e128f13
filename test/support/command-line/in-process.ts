/** The command line within the process of a test, where a command takes a third of the time that a process of its own takes. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reportError } from '../../../src/cli/terminal/output.ts';
import { type Done, entry, root } from './process.ts';

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

let runs = 0;

/** Runs a program: a file that runs a command when it is loaded, here once for each. */
async function runProgram(file: string, args: readonly string[]): Promise<number> {
  const { argv, exitCode } = process;
  const streams = [process.stdout, process.stderr] as const;
  const listeners = streams.map((stream) => stream.listeners('error'));
  process.argv = ['node', 'rollflex', ...args];
  process.exitCode = 0;
  runs += 1;
  try {
    await import(`${pathToFileURL(file).href}?run=${runs}`);
    return Number(process.exitCode);
  } finally {
    Object.assign(process, { argv, exitCode });
    for (const [index, stream] of streams.entries())
      for (const one of stream.listeners('error') as (() => void)[])
        if (!listeners[index]!.includes(one)) stream.off('error', one);
  }
}

let last: Promise<unknown> = Promise.resolve();

function programIn(folder: string, file: string, args: readonly string[]): Promise<Done> {
  if (args.includes('-')) throw new Error('standard input here is that of all tests: take rollflexOn of process.ts');
  const done = last.then(async () => {
    const before = process.cwd();
    const { FORCE_COLOR } = process.env;
    process.chdir(folder);
    process.env.FORCE_COLOR = '0';
    try {
      return await written(() => runProgram(file, args));
    } finally {
      process.chdir(before);
      if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
      else process.env.FORCE_COLOR = FORCE_COLOR;
    }
  });
  last = done.catch(() => undefined);
  return done;
}

/**
 * Runs the program that `rollflex` of `process.ts` starts in a folder, with its threads and what else stands beside it. One runs at
 * a time. What reads standard input, or is stopped, needs a process of its own.
 */
export const rollflexIn = (folder: string, ...args: string[]): Promise<Done> => programIn(folder, entry.at(-1)!, args);
/** Runs a program of the repository, by its path there, in its root; what it throws is thrown. */
export const program = (file: string, ...args: string[]): Promise<Done> => programIn(root, join(root, file), args);
/** The same as {@link rollflexIn} in the root of the repository. */
export const rollflex = (...args: string[]): Promise<Done> => rollflexIn(root, ...args);
