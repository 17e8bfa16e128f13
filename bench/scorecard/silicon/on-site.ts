/**
 * Calibration on site: of each engine some runs are drawn, and its other runs are predicted. The constants were fitted without the
 * configuration of the engine, so that it stands for one that nobody has measured.
 */
import { createHash } from 'node:crypto';
import { mean } from 'simple-statistics';
import {
  afterMeasuring,
  durationOf,
  type MeasuredParts,
  unmeasuredMachine,
} from '../../../src/sim/calibration/machine.ts';
import type { Predicted } from './errors.ts';
import { configurationOf, groupedBy } from './points.ts';

/** Errors after so many measured points; shares, not percent. */
export interface OnSite {
  readonly points: number;
  /** Mean of the absolute relative errors of TPOT, by factors for the parts of a step. */
  readonly mape: number;
  /** The same by an overhead that is added to each step: the former calibration. */
  readonly byOverhead: number;
  /** Share of the runs whose time lies in its interval of 95 %. */
  readonly coverage: number;
  /** Mean of upper ÷ lower end of the intervals. */
  readonly width: number;
}

const draws = 20;
/** A run that is predicted beside those that are drawn. */
const leastRuns = 4;
const z95 = 1.959964;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const secondsOf = (one: Predicted): number => one.point.tpotSeconds!;
/** A measured run beside the parts of its prediction. */
export const partsOf = (one: Predicted): MeasuredParts => ({ parts: one.parts, measuredSeconds: secondsOf(one) });

/** An engine of one's own: its version, precision and parallelism are known. */
export const engineOf = ({ point }: Predicted): string =>
  [configurationOf(point), point.engineVersion, point.served.precision, point.served.gpus, point.stages].join(', ');
/** The same at any tensor parallelism. */
export const engineAtAnyTp = ({ point }: Predicted): string =>
  [configurationOf(point), point.engineVersion, point.served.precision].join(', ');

/** Returns some runs of an engine, drawn by hash, each with another number of clients. */
export function drawn(runs: readonly Predicted[], count: number, seed: string): Predicted[] {
  const order = runs.map((one, index) => ({ one, hash: hashOf(`${seed}/${index}`) }));
  order.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const chosen = new Map<number, Predicted>();
  for (const { one } of order) {
    const { concurrency } = one.point.load;
    if (chosen.size < count && !chosen.has(concurrency)) chosen.set(concurrency, one);
  }
  return [...chosen.values()];
}

/** Returns the runs of each engine that has enough of them. */
export const enginesOf = (
  list: readonly Predicted[],
  engine: (one: Predicted) => string = engineOf,
): [name: string, runs: Predicted[]][] =>
  [
    ...groupedBy(
      list.filter(({ point }) => point.tpotSeconds !== undefined),
      engine,
    ),
  ].filter(([, runs]) => runs.length >= leastRuns);

/** Returns the errors of the runs that were not drawn, each engine calibrated by so many that were. */
export function onSite(
  list: readonly Predicted[],
  points: number,
  engine: (one: Predicted) => string = engineOf,
): OnSite {
  const errors: number[] = [];
  const byOverhead: number[] = [];
  const covered: number[] = [];
  const widths: number[] = [];
  for (const [name, runs] of enginesOf(list, engine)) {
    for (let draw = 0; draw < draws; draw += 1) {
      const chosen = drawn(runs, points, `${draw}/${name}`);
      const belief = afterMeasuring(unmeasuredMachine(), chosen.map(partsOf));
      const overhead = chosen.length === 0 ? 0 : mean(chosen.map((one) => secondsOf(one) - one.tpotSeconds));
      for (const one of runs) {
        if (chosen.includes(one)) continue;
        const { seconds, logDeviation } = durationOf(belief, one.parts);
        const measured = secondsOf(one);
        errors.push(Math.abs(seconds / measured - 1));
        byOverhead.push(Math.abs(Math.max(0, one.tpotSeconds + overhead) / measured - 1));
        covered.push(Math.abs(Math.log(measured / seconds)) <= z95 * logDeviation ? 1 : 0);
        widths.push(Math.exp(2 * z95 * logDeviation));
      }
    }
  }
  return {
    points,
    mape: mean(errors),
    byOverhead: mean(byOverhead),
    coverage: mean(covered),
    width: mean(widths),
  };
}
