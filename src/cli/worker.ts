/** A thread of `rollflex sweep`, `simulate` or `debug`; it does tasks one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { isPolicyError } from '../errors.ts';
import type { WorkerAnswer, WorkerStart, WorkerTask } from './hands.ts';

/** Returns what does the tasks. Only what it needs is loaded. */
async function workOf(start: WorkerStart): Promise<(task: never) => unknown> {
  if (start.kind === 'sweep') {
    const { sweepProblems, sweepWork } = await import('./sweep-problem.ts');
    return sweepWork(sweepProblems(start.input));
  }
  if (start.kind === 'simulate') return (await import('./simulate-tasks.ts')).simulateWork(start.input);
  return (await import('./what-if/told.ts')).toldOf(start.input.paths);
}
const work = workOf(workerData as WorkerStart);

async function answer({ id, task }: WorkerTask): Promise<WorkerAnswer> {
  try {
    return { id, made: await (await work)(task as never) };
  } catch (error) {
    if (isPolicyError(error)) return { id, refused: error.toJSON() };
    return { id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort!.on('message', async (task: WorkerTask) => parentPort!.postMessage(await answer(task)));
