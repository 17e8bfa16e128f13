/** A thread of `rollflex sweep`: it makes one run after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { isPolicyError } from '../errors.ts';
import { sweepEvaluator } from '../sim/sweep/run.ts';
import type { WorkerAnswer, WorkerStart, WorkerTask } from './sweep-messages.ts';
import { sweepProblems } from './sweep-problem.ts';

const { input } = workerData as WorkerStart;
const evaluators = sweepProblems(input).map(({ problem }) => sweepEvaluator(problem));

function answer({ id, place, task }: WorkerTask): WorkerAnswer {
  try {
    return { id, run: evaluators[place]!(task) };
  } catch (error) {
    if (isPolicyError(error)) {
      const { code, expected, got, path } = error;
      return { id, refused: { code, expected, got, path } };
    }
    return { id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort!.on('message', (task: WorkerTask) => parentPort!.postMessage(answer(task)));
