/** How far predicted times of serving runs are from measured ones. */
import { mean, median } from 'simple-statistics';
import { type SiliconConstants, siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { engineCosts } from '../../../src/sim/silicon/served-model.ts';
import { servingTimes } from '../../../src/sim/silicon/serving.ts';
import type { Point } from './points.ts';

/** A run and its prediction. */
export interface Predicted {
  readonly point: Point;
  readonly tpotSeconds: number;
  readonly ttftSeconds: number;
  /** Sequences on all ranks. */
  readonly running: number;
}

/** Errors over some runs; shares, not percent. */
export interface Errors {
  readonly rows: number;
  readonly tpot: {
    /** Mean of the absolute relative errors. */
    readonly mape: number;
    readonly median: number;
    /** Share of the runs within 25 %. */
    readonly within25: number;
    /** Kendall's tau-b of predicted and measured times; null where all are alike. */
    readonly tau: number | null;
    /** The same over pairs that differ in tensor parallelism only. */
    readonly tauTp: number | null;
  };
  readonly ttft: { readonly median: number; readonly mape: number };
}

/** Predicts a run. Throws `PolicyError` `infeasible` if the weights do not fit. */
export function predicted(point: Point, constants: SiliconConstants = siliconConstants): Predicted {
  const times = servingTimes(engineCosts(point.served, constants), point.engine, point.load, constants);
  return { point, ...times, running: times.running * point.load.attentionRanks };
}

/** Returns the errors of predictions, of at least one. */
export function errorsOf(list: readonly Predicted[]): Errors {
  const tpot = list.map(({ point, tpotSeconds }) => Math.abs(tpotSeconds / point.tpotSeconds - 1));
  const ttft = list.map(({ point, ttftSeconds }) => Math.abs(ttftSeconds / point.ttftSeconds - 1));
  return {
    rows: list.length,
    tpot: {
      mape: mean(tpot),
      median: median(tpot),
      within25: tpot.filter((one) => one <= 0.25).length / tpot.length,
      tau: tauB([list]),
      tauTp: tauB([...groupedBy(list, alikeButTp).values()]),
    },
    ttft: { median: median(ttft), mape: mean(ttft) },
  };
}

/** Returns the errors of each group of predictions. */
export function errorsBy(list: readonly Predicted[], key: (point: Point) => string): Record<string, Errors> {
  const groups = groupedBy(list, ({ point }) => key(point));
  return Object.fromEntries(
    [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, some]) => [name, errorsOf(some)]),
  );
}

const alikeButTp = ({ point: { model, gpu, engine, engineVersion, served, load } }: Predicted): string =>
  JSON.stringify([model.name, gpu.id, engine, engineVersion, served.precision, load]);

function groupedBy<T>(list: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const name = key(one);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return groups;
}

/** Kendall's tau-b of predicted and measured TPOT, over the pairs inside of each group. */
function tauB(groups: readonly (readonly Predicted[])[]): number | null {
  let [agreeing, onlyPredicted, onlyMeasured] = [0, 0, 0];
  let pairs = 0;
  for (const group of groups) {
    for (let i = 1; i < group.length; i += 1) {
      const [a, measuredA] = [group[i]!.tpotSeconds, group[i]!.point.tpotSeconds];
      for (let j = 0; j < i; j += 1) {
        const [p, m] = [Math.sign(a - group[j]!.tpotSeconds), Math.sign(measuredA - group[j]!.point.tpotSeconds)];
        agreeing += p * m;
        pairs += p * m === 0 ? 0 : 1;
        if (p !== 0 && m === 0) onlyPredicted += 1;
        if (p === 0 && m !== 0) onlyMeasured += 1;
      }
    }
  }
  const norm = Math.sqrt((pairs + onlyPredicted) * (pairs + onlyMeasured));
  return norm === 0 ? null : agreeing / norm;
}
