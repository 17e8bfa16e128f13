/** A thread that computes plans, one after the other. */
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { createRegistry } from '../../core/machine/registry.ts';
import { registry as shipped } from '../../registry.ts';
import { importOwn, ownDefinitionsIn } from './own-module.ts';
import { doTasks } from './thread-tasks.ts';

/** Start parameters of a thread. */
export interface PlanThreadStart {
  /** URL of a module with further planners. */
  readonly definitions: readonly string[] | undefined;
  /** Shared memory with the number of the job that is to end with its best plan so far. */
  readonly late: SharedArrayBuffer;
}

/** A job for the thread, which makes the plan as JSON. */
export interface PlanThreadJob {
  /** Number of the job, >= 1. */
  readonly job: number;
  readonly planner: string;
  readonly input: unknown;
}

const { definitions, late } = workerData as PlanThreadStart;
const lateJob = new Int32Array(late);
// On Linux this is the priority of this thread alone: where cores are few, events come first.
if (process.platform === 'linux') setPriority(0, 10);

async function registryOf() {
  if (definitions === undefined) return shipped;
  const own = await Promise.all(definitions.map(async (href) => ownDefinitionsIn(await importOwn(href))));
  return createRegistry([...shipped.definitions, ...own.flat()]);
}

doTasks('a plan', async () => {
  const { plan } = await registryOf();
  return ({ job, planner, input }: PlanThreadJob): string => {
    const isLate = (): boolean => Atomics.load(lateJob, 0) === job;
    return JSON.stringify(plan(planner as never, input as never, { isLate }));
  };
});
