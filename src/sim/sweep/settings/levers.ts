/** The parts of RollPacker that a host can carry out. The sweep does not search the other parts: they stay as in the baseline. */

import { samplesPerTry } from '../../cluster/source.ts';
import type { Job } from '../../colocated/job.ts';
import { samplesPerEpoch, type Workload } from '../../workload/workload.ts';
import type { SynchronousSettings } from './settings.ts';

/** The abilities of a host, in addition to more prompts than a step needs. */
export interface Levers {
  /** It can launch more responses of a prompt than needed (`responseSpeculation`). */
  readonly responses: boolean;
  /** It can abort requests, so that a deferred prompt begins again; otherwise a deferred prompt runs to its end. */
  readonly aborts: boolean;
  /** It can go on from the tokens of an aborted request, so that a deferred prompt keeps them. */
  readonly resumes: boolean;
  /** It can compute rewards during the rollout, with adaptive timeouts. */
  readonly rewards: boolean;
  /** It can give GPUs to training while the last responses run. */
  readonly scaleDown: boolean;
  /** It can change the tensor parallelism from round to round. */
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
 * Returns the workload for the host. Without aborts, a deferred prompt keeps its lengths. In the simulator it begins again even so,
 * and takes longer than with a real host.
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
