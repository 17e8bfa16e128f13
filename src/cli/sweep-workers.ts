/** The threads of a sweep. With one there is none: runs are made here. */
import { Worker } from 'node:worker_threads';
import { PolicyError, type PolicyErrorCode } from '../errors.ts';
import { type SweepRun, type SweepTask, sweepEvaluator } from '../sim/sweep/run.ts';
import type { Progress } from './progress.ts';
import type { WorkerAnswer, WorkerStart, WorkerTask } from './sweep-messages.ts';
import type { NamedProblem, SweepInput } from './sweep-problem.ts';

type Done = (index: number, run: SweepRun) => void;

/** Makes runs. */
export interface SweepHands {
  /** Makes these runs of a problem, by its place; tells each as soon as it is there. Runs made here are steps of the progress. */
  make(place: number, tasks: readonly SweepTask[], progress: Progress, done: Done): Promise<void>;
  close(): Promise<void>;
}

/** Hands for a sweep: as many threads as said. */
export function sweepHands(count: number, input: SweepInput, problems: readonly NamedProblem[]): SweepHands {
  return count > 1 ? new Threads(count, input) : new OwnHands(problems);
}

class OwnHands implements SweepHands {
  readonly #evaluators: readonly ((task: SweepTask) => SweepRun)[];

  constructor(problems: readonly NamedProblem[]) {
    this.#evaluators = problems.map(({ problem }) => sweepEvaluator(problem));
  }

  async make(place: number, tasks: readonly SweepTask[], progress: Progress, done: Done): Promise<void> {
    for (const [index, task] of tasks.entries()) {
      done(index, await progress.step(() => this.#evaluators[place]!(task)));
    }
  }

  async close(): Promise<void> {}
}

/** A thread. The built command line has its file beside it; from the sources it is TypeScript, which a thread must be told. */
function newWorker(workerData: WorkerStart): Worker {
  const { url } = import.meta;
  if (!url.endsWith('.ts')) return new Worker(new URL('./sweep-worker.js', url), { workerData });
  const [tsx, entry] = [import.meta.resolve('tsx/esm/api'), new URL('./sweep-worker.ts', url).href];
  const begin = `import('${tsx}').then(({ register }) => (register(), import('${entry}')))`;
  return new Worker(begin, { eval: true, workerData });
}

class Threads implements SweepHands {
  readonly #workers: Worker[];

  constructor(count: number, input: SweepInput) {
    this.#workers = Array.from({ length: count }, () => newWorker({ input }));
  }

  async make(place: number, tasks: readonly SweepTask[], _: Progress, done: Done): Promise<void> {
    let next = 0;
    const work = async (worker: Worker): Promise<void> => {
      while (next < tasks.length) {
        const id = next;
        next += 1;
        done(id, await ask(worker, { id, place, task: tasks[id]! }));
      }
    };
    await Promise.all(this.#workers.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function ask(worker: Worker, task: WorkerTask): Promise<SweepRun> {
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
      if ('run' in answer) resolve(answer.run);
      else if ('failed' in answer) reject(new Error(answer.failed));
      else {
        const { code, ...details } = answer.refused;
        reject(new PolicyError(code as PolicyErrorCode, details));
      }
    };
    worker.on('message', answered).on('error', failed).on('exit', left);
    worker.postMessage(task);
  });
}
