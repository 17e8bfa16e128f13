/** Scales the gradient of each replica so that the combined gradient equals the gradient of the whole batch. */

/** Input of a replica's factor. */
export interface Scale {
  /** n_i: units of this replica, in samples, tokens or groups; >= 0. */
  readonly units: number;
  /** N: units of all replicas together, or the constant by which the loss is divided; >= 0. */
  readonly total: number;
  /** D: replicas of the collective, including those without units; >= 1. */
  readonly replicas: number;
  /** What the replica has accumulated over its units: their mean or their sum. */
  readonly reduction: 'mean' | 'sum';
  /** What the collective makes of the replicas' gradients: their sum or their mean. */
  readonly collective: 'sum' | 'mean';
}

/**
 * Returns the factor for a replica's gradient before the collective: n_i / N for local means and 1 / N for local sums, times D if
 * the collective takes the mean. The factor is 0 if N is 0.
 *
 * RollPacker §4.4 applies n_i / N to sums of gradients; this factor is right for means only.
 */
export function scaleFactor({ units, total, replicas, reduction, collective }: Scale): number {
  if (total === 0) return 0;
  const weight = reduction === 'mean' ? units : 1;
  return ((collective === 'mean' ? replicas : 1) * weight) / total;
}
