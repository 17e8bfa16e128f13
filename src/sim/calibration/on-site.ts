/** Calibrates a job by measured points of its engines. */
import type { Job } from '../colocated/job.ts';
import { type DecodePoint, type DecodePointInput, decodePoints, partsOf } from './decode-point.ts';
import { beliefFrom, durationOf, factorsOf, jobSlowedBy, type MachineFactors, unmeasuredMachine } from './machine.ts';

/** A measured point beside the time model, before and after the calibration. */
export interface CalibratedPoint extends DecodePoint {
  /** Seconds per token of the time model alone. */
  readonly modelSeconds: number;
  /** Seconds per token after the calibration: between the measured ones and those of the model. */
  readonly calibratedSeconds: number;
}

/** A job whose engines are as fast as measured points say. */
export interface OnSiteCalibration {
  /** The job, with `machine` for what is still not known. */
  readonly job: Job;
  /** By which parts of a step take longer than in the time model. */
  readonly factors: MachineFactors;
  /** The measured points, beside the model. */
  readonly points: readonly CalibratedPoint[];
}

/**
 * Calibrates a job by measured points of its engines: one sets the pace, three with different batches tell how it changes with the
 * batch. Each point counts as much as the time model was found to be right (docs/silicon.md).
 *
 * @param job - the job, with the tensor parallelism at which the points were measured
 * @param points - one or more
 * @throws PolicyError `invalid_input` with the path of a bad field
 */
export function calibrateOnSite(job: Job, points: readonly DecodePointInput[]): OnSiteCalibration {
  const checked = decodePoints(points);
  const belief = beliefFrom(job.cost, checked, job.machine ?? unmeasuredMachine((job.outside?.length ?? 0) > 0));
  const factors = factorsOf(belief);
  const { covariance } = belief;
  return {
    job: { ...jobSlowedBy(job, factors), machine: { logFactors: [0, 0, 0], covariance, points: belief.points } },
    factors,
    points: checked.map((point) => {
      const parts = partsOf(job.cost, point);
      return {
        ...point,
        modelSeconds: parts.fixed + parts.sequence + parts.prefill,
        calibratedSeconds: durationOf(belief, parts).seconds,
      };
    }),
  };
}
