/** Workers that do the tasks of a long command: threads, or the command itself if only one thread is wanted. */
import type { Worker } from 'node:worker_threads';
import { type PolicyError, revived } from '../errors.ts';
import { startThread } from '../rpc/transports/thread.ts';
import type { Progress } from './progress.ts';
import type { SimulateInput } from './simulate-tasks.ts';
import type { SweepInput } from './sweep-problem.ts';

/** The input of a thread; the thread derives all other data from it. */
export type WorkerStart =
  | { readonly kind: 'sweep'; readonly input: SweepInput }
  | { readonly kind: 'simulate'; readonly input: SimulateInput }
  | { readonly kind: 'what-if'; readonly input: { readonly paths: readonly string[] } };

/** A task for a thread. */
export interface WorkerTask {
  readonly id: number;
  readonly task: unknown;
}

/** The outcome of a task. A thread cannot clone a `PolicyError`, so it sends the fields of the error. */
export type WorkerAnswer =
  | { readonly id: number; readonly made: unknown }
  | { readonly id: number; readonly refused: ReturnType<PolicyError['toJSON']> }
  | { readonly id: number; readonly failed: string };

/** Workers for the tasks of a command. */
export interface Hands<Task, Made> {
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
export function handsFor<Task, Made>(
  count: number,
  start: WorkerStart,
  work: () => (task: Task) => Made,
): Hands<Task, Made> {
  return count > 1 ? new Threads(count, start) : new OwnHands(work());
}

class OwnHands<Task, Made> implements Hands<Task, Made> {
  readonly #work: (task: Task) => Made;

  constructor(work: (task: Task) => Made) {
    this.#work = work;
  }

  async make(tasks: readonly Task[], progress: Progress, done: (index: number, made: Made) => void): Promise<void> {
    for (const [index, task] of tasks.entries()) done(index, await progress.step(() => this.#work(task)));
  }

  async close(): Promise<void> {}
}

class Threads<Task, Made> implements Hands<Task, Made> {
  readonly #workers: Worker[];

  constructor(count: number, start: WorkerStart) {
    this.#workers = Array.from({ length: count }, () => startThread('./worker.ts', import.meta.url, start));
  }

  async make(tasks: readonly Task[], _: Progress, done: (index: number, made: Made) => void): Promise<void> {
    let next = 0;
    const work = async (worker: Worker): Promise<void> => {
      while (next < tasks.length) {
        const id = next;
        next += 1;
        done(id, (await ask(worker, { id, task: tasks[id]! })) as Made);
      }
    };
    await Promise.all(this.#workers.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** Gives a thread a task. Throws what it throws; an error if it ends. */
export function ask(worker: Worker, task: WorkerTask): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      worker.off('message', answered).off('error', failed).off('exit', left);
    };
    const failed = (error: Error): void => {
      over();
      reject(error);
    };
    const left = (code: number): void => failed(new Error(`a worker thread ended with ${code}`));
    const answered = (answer: WorkerAnswer): void => {
      over();
      if ('made' in answer) resolve(answer.made);
      else if ('failed' in answer) reject(new Error(answer.failed));
      else reject(revived(answer.refused));
    };
    worker.on('message', answered).on('error', failed).on('exit', left);
    worker.postMessage(task);
  });
}
