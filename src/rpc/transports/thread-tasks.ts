/** A thread from the point of view of its own module, which does tasks one after the other. See {@link AskedThread}. */
import { parentPort } from 'node:worker_threads';
import { failure, type PlainRefusal, type PolicyError } from '../../errors.ts';

/** The outcome of a task. A thread cannot clone a `PolicyError`, so its fields are sent. */
export type ThreadAnswer = { readonly made: unknown } | { readonly refused: PlainRefusal };

/**
 * Does the tasks of this thread.
 *
 * @param expected - result of a task in the words of an error, such as `a plan`
 * @param work - loads the function for tasks; if this fails, each task is answered by the error
 */
export function doTasks(expected: string, work: () => Promise<(task: never) => unknown>): void {
  const loaded = work();
  // The error is reported to whoever asks.
  loaded.catch(() => undefined);
  parentPort!.on('message', async (task) => {
    const answer = (outcome: ThreadAnswer): void => parentPort!.postMessage(outcome);
    try {
      answer({ made: await (await loaded)(task as never) });
    } catch (error) {
      answer({ refused: plain(failure(expected, error)) });
    }
  });
}

function plain(error: PolicyError): PlainRefusal {
  const { code, expected, got, path, cause } = error;
  const stack = code === 'internal' && cause instanceof Error ? cause.stack : undefined;
  return { code, expected, got, path, stack };
}
