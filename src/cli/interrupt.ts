/** Work that takes long at a stretch, which Ctrl-C ends at once, and work that no signal may cut in two. */
import { constants } from 'node:os';
import { type Context, createContext, Script } from 'node:vm';

/** Thrown where Ctrl-C has ended work. */
export class Interrupted extends Error {}

const begin = new Script('work()');
let context: Context | undefined;

/**
 * Does some work. A listener for SIGINT would get Ctrl-C only after the work: Node runs it between two pieces. Node can break
 * off a script, so a script does the work.
 *
 * @throws Interrupted, and errors of the work
 */
export function interruptible<T>(work: () => T): T {
  context ??= createContext({});
  context.work = work;
  try {
    return begin.runInContext(context, { breakOnSigint: true }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    throw new Interrupted('stopped');
  } finally {
    context.work = undefined;
  }
}

const toStop = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Does work that must not be left half done: a signal to stop ends the process afterwards. */
export function uncut(work: () => void): void {
  const leave = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal]);
  for (const signal of toStop) process.on(signal, leave);
  try {
    work();
  } finally {
    // A signal that has arrived is delivered in the turn that begins now.
    setImmediate(() => {
      for (const signal of toStop) process.off(signal, leave);
    });
  }
}
