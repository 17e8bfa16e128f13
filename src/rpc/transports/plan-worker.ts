/** A thread that computes plans, one after the other. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createRegistry, definitionsIn } from '../../core/registry.ts';
import { isPolicyError, PolicyError } from '../../errors.ts';
import { registry as shipped } from '../../registry.ts';

/** How a thread begins. */
export interface PlanThreadStart {
  /** URL of a module whose planners there are, too. */
  readonly definitions: string | undefined;
  /** Holds the number of the job that is to end with the best plan so far. */
  readonly late: SharedArrayBuffer;
}

/** A job of the thread. */
export interface PlanThreadJob {
  /** Number of the job, >= 1. */
  readonly job: number;
  readonly planner: string;
  readonly input: unknown;
}

/** The answer to a job: the plan as JSON, or an error as plain data. */
export type PlanThreadAnswer = { readonly job: number } & (
  | { readonly json: string }
  | { readonly refused: ReturnType<PolicyError['toJSON']> }
);

const { definitions, late } = workerData as PlanThreadStart;
const lateJob = new Int32Array(late);
// On Linux this is the priority of this thread alone: where cores are few, events come first.
if (process.platform === 'linux') setPriority(0, 10);

async function registryOf() {
  if (definitions === undefined) return shipped;
  return createRegistry([...shipped.definitions, ...definitionsIn(await import(definitions))]);
}

const registry = registryOf();

async function answer({ job, planner, input }: PlanThreadJob): Promise<PlanThreadAnswer> {
  try {
    const { plan } = await registry;
    const isLate = (): boolean => Atomics.load(lateJob, 0) === job;
    return { job, json: JSON.stringify(plan(planner as never, input as never, { isLate })) };
  } catch (error) {
    if (isPolicyError(error)) return { job, refused: error.toJSON() };
    const got = error instanceof Error ? error.name : typeof error;
    return { job, refused: new PolicyError('internal', { expected: 'a plan', got }).toJSON() };
  }
}

parentPort!.on('message', async (job: PlanThreadJob) => parentPort!.postMessage(await answer(job)));
