/** The parts of RollPacker that a host can carry out. The sweep does not search the other parts: they stay as in the baseline. */

import { samplesPerTry } from '../../cluster/source.ts';
import type { Job } from '../../colocated/job.ts';
import { samplesPerEpoch, type Workload } from '../../workload/workload.ts';
import type { SynchronousSettings } from './settings.ts';

/** The abilities of a host, in addition to more prompts than a step needs. */
export interface Levers {
  /** The host can launch more responses per prompt than needed (`responseSpeculation`). */
  readonly responses: boolean;
  /** The host can abort requests, so that a deferred prompt begins again; otherwise a deferred prompt runs to its end. */
  readonly aborts: boolean;
  /** The host can continue from the tokens of an aborted request, so that a deferred prompt keeps them. */
  readonly resumes: boolean;
  /** The host can compute rewards during the rollout, with adaptive timeouts. */
  readonly rewards: boolean;
  /** The host can give GPUs to training while the last responses run. */
  readonly scaleDown: boolean;
  /** The host can change the tensor parallelism between rounds. */
  readonly tp: boolean;
}

/** Returns the fixed values of settings that the host cannot choose. */
export function withoutLevers(job: Job, levers: Levers): Partial<SynchronousSettings> {
  return {
    ...(levers.responses ? {} : { responseSpeculation: 1 }),
    ...(levers.rewards ? {} : { rewards: 'after' as const }),
    ...(levers.scaleDown ? {} : { threshold: 'off' as const }),
    ...(levers.tp ? {} : { tp: job.cost.gpus }),
  };
}

/**
 * Returns the workload for a host with these levers. Without aborts, a deferred prompt keeps its lengths. The simulator begins
 * such a prompt again even so, which takes longer than on a real host.
 */
export function withLevers(workload: Workload, { aborts }: Levers): Workload {
  if (aborts) return workload;
  return {
    ...workload,
    prompt: (index) => {
      const prompt = workload.prompt(index);
      const inEpoch = (sample: number): number => sample % samplesPerEpoch;
      return {
        ...prompt,
        sample: (sample) => prompt.sample(sample - inEpoch(sample) + (inEpoch(sample) % samplesPerTry)),
      };
    },
  };
}
