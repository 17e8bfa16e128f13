/** What a command of the command line prints when it runs in this process. */
import { reportError } from '../../../src/cli/output.ts';
import type { Done } from './process.ts';

type Write = typeof process.stdout.write;

/** Runs a command; an error is reported as the command line reports it. */
export async function captured(run: () => unknown): Promise<Done> {
  const said = { out: '', err: '' };
  const { stdout, stderr } = process;
  const before = { out: stdout.write, err: stderr.write };
  const into = (stream: keyof typeof said): Write =>
    ((text: string) => {
      said[stream] += text;
      return true;
    }) as Write;
  stdout.write = into('out');
  stderr.write = into('err');
  try {
    await run();
    return { code: 0, ...said };
  } catch (error) {
    const code = reportError(error);
    return { code, ...said };
  } finally {
    stdout.write = before.out;
    stderr.write = before.err;
  }
}
