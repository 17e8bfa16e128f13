/** The command line within the process of a test: for command lines that are refused, by the hundred. */
import { main } from '../../../src/cli/main.ts';
import { reportError } from '../../../src/cli/output.ts';
import type { Done } from './process.ts';

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

/** Runs a command line. */
export const runInProcess = (...args: string[]): Promise<Done> =>
  written(async () => {
    const { argv, exitCode } = process;
    process.argv = ['node', 'rollflex', ...args];
    process.exitCode = 0;
    try {
      await main(args);
      return Number(process.exitCode);
    } finally {
      Object.assign(process, { argv, exitCode });
    }
  });
