/** Runs long synchronous work so that Ctrl-C ends it at once, and other work so that no signal interrupts it. */
import { constants } from 'node:os';
import { type Context, createContext, Script } from 'node:vm';

/** Thrown if Ctrl-C has ended the work. */
export class Interrupted extends Error {}

const begin = new Script('work()');
let context: Context | undefined;

/**
 * Does synchronous work that Ctrl-C can end. Node calls a listener for SIGINT only after synchronous work, but it can interrupt a
 * `vm` script; so the work runs as a script.
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

/** Does work that must not remain half done: a signal ends the process only after the work. */
export function uncut(work: () => void): void {
  const leave = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal]);
  for (const signal of toStop) process.on(signal, leave);
  try {
    work();
  } finally {
    // A signal that has arrived already is delivered in the next turn of the event loop.
    setImmediate(() => {
      for (const signal of toStop) process.off(signal, leave);
    });
  }
}
