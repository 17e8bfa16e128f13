/** Loads and costs of a placement. */

import type { FlexUlyssesPlan, SequenceAssignment } from '../../generated/settings/flex-ulysses.ts';
import type { Instance, Placement } from './instance.ts';

/** Returns a placement that has every sequence whole on device 0. */
export const emptyPlacement = (sequences: number): Placement => ({
  level: new Uint8Array(sequences),
  group: new Int32Array(sequences),
});

/** Compute and tokens of each device. */
export interface Loads {
  readonly compute: Float64Array;
  readonly memory: Float64Array;
}

/** Sums the compute and the tokens of each device. */
export function loadsOf(instance: Instance, { level, group }: Placement): Loads {
  const compute = new Float64Array(instance.devices);
  const memory = new Float64Array(instance.devices);
  for (let i = 0; i < instance.sequences; i += 1) {
    const degree = 2 ** level[i]!;
    const first = group[i]! * degree;
    for (let device = first; device < first + degree; device += 1) {
      compute[device]! += instance.work[i]! / degree;
      memory[device]! += instance.lengths[i]! / degree;
    }
  }
  return { compute, memory };
}

/** Returns the largest of many numbers >= 0; 0 for an empty list. */
export const largest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, value), 0);

/** Computes the metrics of a placement. */
export function metricsOf(instance: Instance, placement: Placement): FlexUlyssesPlan['metrics'] {
  const { compute, memory } = loadsOf(instance, placement);
  let communication = 0;
  let traffic = 0;
  let sharded = 0;
  placement.level.forEach((level, i) => {
    if (level === 0) return;
    const degree = 2 ** level;
    communication += instance.splitCost[level]![i]!;
    traffic += (instance.lengths[i]! * (degree - 1)) / degree;
    sharded += 1;
  });
  return {
    maxCompute: largest(compute),
    meanCompute: instance.work.reduce((sum, work) => sum + work, 0) / instance.devices,
    maxMemoryTokens: largest(memory),
    communication,
    traffic,
    sharded,
  };
}

/** Returns a placement in the form of the plan. */
export function assignmentsOf({ level, group }: Placement): SequenceAssignment[] {
  return Array.from(level, (one, sequence) => {
    const degree = 2 ** one;
    const first = group[sequence]! * degree;
    return { sequence, degree, devices: Array.from({ length: degree }, (_, rank) => first + rank) };
  });
}
