/** Workers that do the tasks of a long command: threads, or the command itself if only one thread is wanted. */
import { AskedThread } from '../../rpc/transports/asked-thread.ts';
import { startThread } from '../../rpc/transports/thread.ts';
import type { AdviseInput } from '../advise/question.ts';
import type { SimulateInput } from '../simulate/tasks.ts';
import type { SweepInput } from '../sweep/problem.ts';
import type { Progress } from '../terminal/progress.ts';

/** The input of a thread; the thread derives all other data from it. */
export type WorkerStart =
  | { readonly kind: 'advise'; readonly input: AdviseInput }
  | { readonly kind: 'sweep'; readonly input: SweepInput }
  | { readonly kind: 'simulate'; readonly input: SimulateInput }
  | { readonly kind: 'what-if'; readonly input: { readonly paths: readonly string[] } };

/** Workers for the tasks of a command. */
export interface Workers<Task, Made> {
  /** Does the tasks, and reports each finished task. Without threads, each task is a step of the progress display. */
  make(tasks: readonly Task[], progress: Progress, done: (index: number, made: Made) => void): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the workers of a command.
 *
 * @param count - number of threads; with fewer than two, no thread is started
 * @param work - does a task in this process, with the same result as a thread started with `start`
 */
export function workersFor<Task, Made>(
  count: number,
  start: WorkerStart,
  work: () => (task: Task) => Made,
): Workers<Task, Made> {
  return count > 1 ? new Threads(count, start) : new ThisThread(work());
}

class ThisThread<Task, Made> implements Workers<Task, Made> {
  readonly #work: (task: Task) => Made;

  constructor(work: (task: Task) => Made) {
    this.#work = work;
  }

  async make(tasks: readonly Task[], progress: Progress, done: (index: number, made: Made) => void): Promise<void> {
    for (const [index, task] of tasks.entries()) done(index, await progress.step(() => this.#work(task)));
  }

  async close(): Promise<void> {}
}

class Threads<Task, Made> implements Workers<Task, Made> {
  readonly #threads: readonly AskedThread[];

  constructor(count: number, start: WorkerStart) {
    this.#threads = Array.from({ length: count }, () => taskThread(start));
  }

  async make(tasks: readonly Task[], _: Progress, done: (index: number, made: Made) => void): Promise<void> {
    let next = 0;
    const work = async (thread: AskedThread): Promise<void> => {
      while (next < tasks.length) {
        const id = next;
        next += 1;
        done(id, (await thread.ask(tasks[id])) as Made);
      }
    };
    await Promise.all(this.#threads.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }
}

/** Starts a thread that does tasks; `megabytes` is the most memory of its objects. */
export const taskThread = (start: WorkerStart, megabytes?: number): AskedThread =>
  new AskedThread(() => startThread('./worker.ts', import.meta.url, start, megabytes), 'the result of a task');
