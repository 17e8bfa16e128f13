/** A thread of `rollflex sweep` or `rollflex simulate`; it does tasks one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { isPolicyError } from '../errors.ts';
import type { WorkerAnswer, WorkerStart, WorkerTask } from './hands.ts';
import { simulateWork } from './simulate-tasks.ts';
import { sweepProblems, sweepWork } from './sweep-problem.ts';

const start = workerData as WorkerStart;
const work = (start.kind === 'sweep' ? sweepWork(sweepProblems(start.input)) : simulateWork(start.input)) as (
  task: unknown,
) => unknown;

function answer({ id, task }: WorkerTask): WorkerAnswer {
  try {
    return { id, made: work(task) };
  } catch (error) {
    if (isPolicyError(error)) return { id, refused: error.toJSON() };
    return { id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort!.on('message', (task: WorkerTask) => parentPort!.postMessage(answer(task)));
