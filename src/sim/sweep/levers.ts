/** The parts of RollPacker that a host can carry out: the others are not searched, and stay as in the baseline. */

import { samplesPerTry } from '../cluster/source.ts';
import type { Job } from '../colocated/job.ts';
import type { Workload } from '../workload/workload.ts';
import type { SynchronousSettings } from './settings.ts';

/** The abilities of a host beside more prompts than a step needs. */
export interface Levers {
  /** More responses of a prompt than it needs (`responseSpeculation`). */
  readonly responses: boolean;
  /** Requests are aborted: a deferred prompt begins anew. If not, it runs on until it has ended. */
  readonly aborts: boolean;
  /** Rewards beside the rollout, with timeouts that adapt. */
  readonly rewards: boolean;
  /** GPUs that go to training while the last responses run. */
  readonly scaleDown: boolean;
  /** Another tensor parallelism from round to round. */
  readonly tp: boolean;
}

/** Returns the settings that a host without some levers cannot choose. */
export function withoutLevers(job: Job, levers: Levers): Partial<SynchronousSettings> {
  return {
    ...(levers.responses ? {} : { responseSpeculation: 1 }),
    ...(levers.rewards ? {} : { rewards: 'after' as const }),
    ...(levers.scaleDown ? {} : { threshold: 'off' as const }),
    ...(levers.tp ? {} : { tp: job.cost.gpus }),
  };
}

/**
 * The workload as a host without aborts sees it: a deferred prompt keeps its lengths. In the simulator it begins anew all the
 * same, so that it takes longer than there.
 */
export function withLevers(workload: Workload, { aborts }: Levers): Workload {
  if (aborts) return workload;
  return {
    ...workload,
    prompt: (index) => {
      const prompt = workload.prompt(index);
      return { ...prompt, sample: (sample) => prompt.sample(sample % samplesPerTry) };
    },
  };
}
