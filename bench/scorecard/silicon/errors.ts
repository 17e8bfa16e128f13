/** How far predicted times of serving runs are from measured ones. */
import { mean, median } from 'simple-statistics';
import { PolicyError } from '../../../src/errors.ts';
import { type SecondsByPart, stepParts } from '../../../src/sim/calibration/decode-point.ts';
import { type SiliconConstants, siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { type EngineCosts, engineCosts } from '../../../src/sim/silicon/served-model.ts';
import { servingTimes } from '../../../src/sim/silicon/serving.ts';
import { groupedBy, type Point } from './points.ts';
import { type Pair, tauB } from './tau.ts';

/** A run and its prediction. */
export interface Predicted {
  readonly point: Point;
  readonly tpotSeconds: number;
  readonly ttftSeconds: number;
  /** The seconds of TPOT by part. */
  readonly parts: SecondsByPart;
  /** Sequences on all ranks. */
  readonly running: number;
  /** Whether the weights fit; if they do not, the cache is taken to hold one request. */
  readonly fits: boolean;
}

/** Errors over some runs; shares, not percent. Null where nothing was measured. */
export interface Errors {
  readonly rows: number;
  readonly tpot: {
    /** Mean of the absolute relative errors. */
    readonly mape: number | null;
    readonly median: number | null;
    /** Share of the runs within 25 %. */
    readonly within25: number | null;
    /** Kendall's tau-b of predicted and measured times; null where all are alike. */
    readonly tau: number | null;
    /**
     * The same over pairs that differ in tensor parallelism only. Pairs with the same GPUs, by how their layouts were read, are
     * left out: they ask nothing of the model.
     */
    readonly tauTp: number | null;
  };
  readonly ttft: { readonly median: number | null; readonly mape: number | null };
}

/** The share of memory at which any weights fit: their room is replaced afterwards. */
const endless = 1e6;

function costsOf({ served, load }: Point, constants: SiliconConstants): { costs: EngineCosts; fits: boolean } {
  try {
    return { costs: engineCosts(served, constants), fits: true };
  } catch (error) {
    if (!(error instanceof PolicyError && error.code === 'infeasible')) throw error;
    const costs = engineCosts({ ...served, memoryUtilization: endless }, constants);
    return { costs: { ...costs, kvCapacityTokens: load.promptTokens + load.responseTokens }, fits: false };
  }
}

/** Predicts a run. A token passes the stages of a pipeline one after the other, which takes as long as on the GPUs of one. */
export function predicted(point: Point, constants: SiliconConstants = siliconConstants): Predicted {
  const { costs, fits } = costsOf(point, constants);
  const times = servingTimes(costs, point.engine, point.load, constants);
  const context = point.load.promptTokens + point.load.responseTokens / 2;
  const { fixed, sequence } = stepParts(costs, times.running, context, 0);
  const parts = { fixed, sequence, prefill: times.tpotSeconds - fixed - sequence };
  return { point, ...times, parts, running: times.running * point.load.attentionRanks, fits };
}

const relative = (ours: number, measured: number | undefined): number[] =>
  measured === undefined ? [] : [Math.abs(ours / measured - 1)];
const pairOf = ({ point, tpotSeconds }: Predicted): Pair[] =>
  point.tpotSeconds === undefined ? [] : [[tpotSeconds, point.tpotSeconds, point.served.gpus]];

/** Returns the errors of predictions. */
export function errorsOf(list: readonly Predicted[]): Errors {
  const tpot = list.flatMap(({ point, tpotSeconds }) => relative(tpotSeconds, point.tpotSeconds));
  const ttft = list.flatMap(({ point, ttftSeconds }) => relative(ttftSeconds, point.ttftSeconds));
  const of = (errors: readonly number[], value: (some: number[]) => number) =>
    errors.length === 0 ? null : value([...errors]);
  return {
    rows: list.length,
    tpot: {
      mape: of(tpot, mean),
      median: of(tpot, median),
      within25: of(tpot, (some) => some.filter((one) => one <= 0.25).length / some.length),
      tau: tauB([list.flatMap(pairOf)]),
      tauTp: tauB(
        [...groupedBy(list, alikeButTp).values()].map((some) => some.flatMap(pairOf)),
        ([, , a], [, , b]) => a !== b,
      ),
    },
    ttft: { median: of(ttft, median), mape: of(ttft, mean) },
  };
}

/** Returns the errors of each group of predictions. */
export function errorsBy(list: readonly Predicted[], key: (one: Predicted) => string): Record<string, Errors> {
  const groups = [...groupedBy(list, key)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(groups.map(([name, some]) => [name, errorsOf(some)]));
}

const alikeButTp = ({ point: { model, gpu, engine, engineVersion, served, stages, load } }: Predicted): string =>
  JSON.stringify([model.name, gpu.id, engine, engineVersion, served.precision, stages, load]);
