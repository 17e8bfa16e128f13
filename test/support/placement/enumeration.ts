/** The optimum of tiny placements, by looking at every plan: for the oracle, to be held against. */
import type { Instance } from '../../../src/planners/flex-ulysses/instance.ts';

/** What a plan takes. */
export interface Taken {
  readonly compute: number;
  readonly memory: number;
  readonly communication: number;
}

/** All plans, by what they take; there are (2 · devices − groups)^sequences. */
export function everyPlan(instance: Instance): Taken[] {
  const { sequences, devices, levels, lengths, work, splitCost } = instance;
  const compute = new Float64Array(devices);
  const memory = new Float64Array(devices);
  const plans: Taken[] = [];
  const add = (from: number, degree: number, sequence: number, sign: number): void => {
    for (let device = from; device < from + degree; device += 1) {
      compute[device]! += (sign * work[sequence]!) / degree;
      memory[device]! += (sign * lengths[sequence]!) / degree;
    }
  };
  const place = (sequence: number, communication: number): void => {
    if (sequence === sequences) {
      plans.push({ compute: Math.max(...compute), memory: Math.max(...memory), communication });
      return;
    }
    for (let level = 0; level < levels; level += 1) {
      const degree = 2 ** level;
      for (let from = 0; from < devices; from += degree) {
        add(from, degree, sequence, 1);
        place(sequence + 1, communication + splitCost[level]![sequence]!);
        add(from, degree, sequence, -1);
      }
    }
  };
  place(0, 0);
  return plans;
}
