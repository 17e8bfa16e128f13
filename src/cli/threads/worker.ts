/** A thread of `rollflex advise`, `sweep`, `simulate` or `debug`; it does tasks one after the other. */
import { workerData } from 'node:worker_threads';
import { doTasks } from '../../rpc/transports/thread-tasks.ts';
import type { WorkerStart } from './workers.ts';

/** Returns what does the tasks. Only what it needs is loaded. */
async function workOf(start: WorkerStart): Promise<(task: never) => unknown> {
  if (start.kind === 'sweep') {
    const { sweepProblems, sweepWork } = await import('../sweep/problem.ts');
    return sweepWork(sweepProblems(start.input));
  }
  if (start.kind === 'advise') return (await import('../advise/question.ts')).adviseWork(start.input);
  if (start.kind === 'simulate') {
    const { input } = start;
    const { comparisonsOf, simulateWork } = await import('../simulate/tasks.ts');
    const own = await (await import('../job/own.ts')).ownSchedulers(input, input.job);
    return simulateWork(input, () => comparisonsOf(input, own));
  }
  return (await import('../what-if/text.ts')).textAnswerer(start.input.paths);
}

doTasks('the result of a task', () => workOf(workerData as WorkerStart));
