/** A sandbox for the example: a child process that is killed at its timeout. A real one would also be shut in. */
import { spawn } from 'node:child_process';

/** How a run ended. */
export interface End {
  readonly outcome: 'correct' | 'wrong' | 'timeout' | 'infrastructure';
  readonly seconds: number;
  readonly message?: string;
}

/**
 * Runs a program, gives it the input, and compares what it prints.
 *
 * @param command - what runs the program; one that cannot be started is a fault of the sandbox
 */
export function runInSandbox(
  command: string,
  program: string,
  test: { readonly input: string; readonly expected: string },
  timeoutSeconds: number,
): Promise<End> {
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(command, ['-e', program, test.input], { stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    let isStopped = false;
    const timer = setTimeout(() => {
      isStopped = true;
      child.kill('SIGKILL');
    }, timeoutSeconds * 1000);
    const end = (outcome: End['outcome'], message?: string): void => {
      clearTimeout(timer);
      const seconds = (performance.now() - start) / 1000;
      resolve({ outcome, seconds, ...(message === undefined ? undefined : { message }) });
    };
    child.stdout?.on('data', (text) => {
      printed += text;
    });
    child.on('error', (error) => end('infrastructure', error.message));
    child.on('close', (code, signal) => {
      if (isStopped) end('timeout');
      // Killed, but not by us: the machine was out of memory, or somebody stopped the sandbox.
      else if (signal !== null) end('infrastructure', `killed by ${signal}`);
      // Code that fails by itself is wrong, whatever it printed before.
      else end(code === 0 && printed.trim() === test.expected ? 'correct' : 'wrong');
    });
  });
}
