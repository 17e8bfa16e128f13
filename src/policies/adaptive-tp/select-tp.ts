/** Chooses a TP degree from an offline profile; a plain function (RollPacker §4.1, §4.2). */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { type ProfileRow, profileRow, type RolloutWorkload, rolloutWorkload } from '../../schemas/parallelism.ts';
import { positiveCount } from '../../schemas/units.ts';
import type { Parallelism } from './bounds.ts';
import { predictSeconds } from './predict.ts';
import { surfaceKey, surfacesOf } from './surface.ts';

const profileSchema = z.strictObject({
  rows: z.array(profileRow).min(1).max(20_000),
  gpuMemoryBytes: z.number().positive(),
  memoryUtilization: z.number().positive().max(1).default(0.9),
});
const workloadSchema = rolloutWorkload.extend({ gpus: positiveCount });

/** An offline profile, and the memory that a configuration must fit. */
export interface TpProfile {
  /** Measured rows; the last row of a point counts. */
  readonly rows: readonly ProfileRow[];
  /** Bytes of memory of one GPU, > 0. */
  readonly gpuMemoryBytes: number;
  /** Share of GPU memory that an engine may use, above 0 and at most 1 (default 0.9). */
  readonly memoryUtilization?: number;
}

/** The load of a rollout, and the number of GPUs. */
export interface TpWorkload extends RolloutWorkload {
  /** GPUs of the rollout, over all servers. */
  readonly gpus: number;
}

/** A configuration that was considered. */
export interface TpCandidate extends Parallelism {
  /** Predicted seconds of the rollout; absent if its longest response does not fit the memory. */
  readonly predictedSeconds?: number;
}

/** Result of {@link selectTp}. */
export interface TpSelection extends Parallelism {
  /** Predicted seconds of the rollout. */
  readonly predictedSeconds: number;
  /** Every configuration of the profile that divides the GPUs, by TP, then by EP. */
  readonly candidates: readonly TpCandidate[];
}

/** Orders by TP, then by EP; without EP first. */
export const byDegree = (a: Parallelism, b: Parallelism): number => a.tp - b.tp || (a.ep ?? 0) - (b.ep ?? 0);

/**
 * Returns the best of some configurations: the one with the fewest predicted seconds; ties go to the least TP, then the least EP.
 */
export function best(candidates: readonly TpCandidate[]): (TpCandidate & { predictedSeconds: number }) | undefined {
  let chosen: (TpCandidate & { predictedSeconds: number }) | undefined;
  for (const one of [...candidates].sort(byDegree)) {
    const { predictedSeconds } = one;
    if (predictedSeconds === undefined) continue;
    if (chosen === undefined || predictedSeconds < chosen.predictedSeconds) chosen = { ...one, predictedSeconds };
  }
  return chosen;
}

/**
 * Chooses, among the configurations of a profile that fit the memory, the one with the fewest predicted seconds of rollout.
 *
 * It considers every (TP, EP) of the profile whose TP divides the GPUs. Between the points of the profile, values are interpolated
 * linearly along the sequence length, the batch size and the routing skew. Below the first point, the value of this point holds;
 * beyond the last point, the line through the last two points continues. Ties go to the least TP, then the least EP.
 *
 * @throws PolicyError `invalid_input` for an invalid profile or workload, `infeasible` if no configuration divides the GPUs and
 * fits the memory
 */
export function selectTp(profile: TpProfile, workload: TpWorkload): TpSelection {
  const { rows, gpuMemoryBytes, memoryUtilization } = parse(profileSchema, profile, 'invalid_input', 'profile');
  const { gpus, ...demand } = parse(workloadSchema, workload, 'invalid_input', 'workload');
  if (demand.longestTokens < demand.responseTokens) {
    const expected = `at least responseTokens (${demand.responseTokens})`;
    refuse('invalid_input', 'workload.longestTokens', expected, demand.longestTokens);
  }
  for (const [at, { tp, ep }] of rows.entries()) {
    if (ep === undefined || tp % ep === 0) continue;
    refuse('invalid_input', `profile.rows[${at}].ep`, 'a divisor of tp', ep);
  }
  const memoryBytes = gpuMemoryBytes * memoryUtilization;
  const known = new Map<string, Parallelism>();
  for (const { tp, ep } of rows) if (gpus % tp === 0) known.set(surfaceKey({ tp, ep }), { tp, ep });
  const surfaces = surfacesOf(rows);
  const candidates = [...known]
    .map(([key, { tp, ep }]): TpCandidate => {
      const predictedSeconds = predictSeconds(surfaces.get(key)!, demand, gpus / tp, memoryBytes);
      const one = ep === undefined ? { tp } : { tp, ep };
      return predictedSeconds === undefined ? one : { ...one, predictedSeconds };
    })
    .sort(byDegree);
  const chosen = best(candidates);
  if (chosen === undefined) {
    const expected = `a TP of the profile that divides ${gpus} GPUs and fits ${memoryBytes} bytes each`;
    const got = candidates.length === 0 ? 'none that divides them' : 'none whose longest response fits';
    refuse('infeasible', 'profile.rows', expected, got);
  }
  return { ...chosen, candidates };
}
