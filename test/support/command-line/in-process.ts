/** The command line within the process of a test: for command lines that are refused, by the hundred. */
import { vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import type { Done } from './process.ts';

/** Runs a command in this process. */
export async function runInProcess(...args: string[]): Promise<Done> {
  const said = { out: '', err: '' };
  const { argv, exitCode } = process;
  const listening = (['out', 'err'] as const).map((name) =>
    vi.spyOn(name === 'out' ? process.stdout : process.stderr, 'write').mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  process.argv = ['node', 'rollflex', ...args];
  process.exitCode = 0;
  try {
    await main(args);
    return { code: Number(process.exitCode), ...said };
  } finally {
    for (const one of listening) one.mockRestore();
    Object.assign(process, { argv, exitCode });
  }
}
