/**
 * How far the engines of a machine are from the time model, and how sure that is: a factor for each part of a step, as normal
 * logarithms. What is known before anything was measured comes from measured configurations of other machines
 * (docs/silicon.md); each measured point narrows it.
 */
import type { Job, MachineBelief } from '../colocated/job.ts';
import type { CostModel } from '../models/cost-model.ts';
import type { DecodePoint, SecondsByPart } from './decode-point.ts';
import { partsOf } from './decode-point.ts';

/** Parts of a step that have a factor each. */
const parts = ['fixed', 'sequence', 'prefill'] as const satisfies readonly (keyof SecondsByPart)[];

/**
 * Standard deviations of the logarithms of the factors, and of what they leave open at one load: of the measured configurations,
 * each predicted by constants that were fitted without it (`npm run scorecard -- silicon`).
 */
export const machinePrior = Object.freeze({ fixed: 0.18, sequence: 0.31, prefill: 0.5, load: 0.1 });

/**
 * How much wider the prior is for what lies outside of the measurements. Constants that were fitted without a whole GPU are a tenth
 * farther off; an engine, a precision or a context that nobody measured is taken to be half as far again.
 */
export const outsideWidth = 1.5;

type Vector = [number, number, number];

/** Factors by which parts of a step are slower than in the time model. */
export interface MachineFactors {
  /** Of what a step costs however many sequences it has: weights, arithmetic, launches. */
  readonly fixed: number;
  /** Of what each sequence costs, its KV cache included. */
  readonly sequence: number;
  /** Of prefills. */
  readonly prefill: number;
}

const map3 = <T>(of: (at: 0 | 1 | 2) => T): [T, T, T] => [of(0), of(1), of(2)];
const map = map3<number>;
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Returns what is known before anything was measured. */
export function unmeasuredMachine(isOutside = false): MachineBelief {
  const width = isOutside ? outsideWidth : 1;
  const variances = map((at) => (width * machinePrior[parts[at]]) ** 2);
  const covariance = map3((row) => map((at) => (at === row ? variances[at] : 0)));
  return { logFactors: [0, 0, 0], covariance, points: 0 };
}

/** A measured duration beside the parts of its prediction. */
export interface MeasuredParts {
  readonly parts: SecondsByPart;
  readonly measuredSeconds: number;
}

/** Logarithm of a prediction under factors, and its derivatives by the logarithms of the factors: the shares of the parts. */
function predicted(of: SecondsByPart, logFactors: Vector): { log: number; shares: Vector } {
  const seconds = map((at) => of[parts[at]] * Math.exp(logFactors[at]));
  const all = seconds[0] + seconds[1] + seconds[2];
  return { log: Math.log(all), shares: map((at) => seconds[at] / all) };
}

/** A pass over the points changes the linearization; after some it has settled. */
const passes = 24;
/** A linearization says nothing of factors that are farther away. */
const farthestStep = 1;
/**
 * Standard deviations, as logarithms, of a pace that all parts of a step have in common: that of engines as they were measured, and of
 * kinds of engines that nobody has measured, such as a processor.
 */
const paces = [0, 0.5, 1, 2, 4] as const;

/**
 * Returns what is known after measurements, by an iterated extended Kalman filter. Where they would be one in a thousand under the
 * prior, the engine is taken to have a pace of its own kind, the least at which they would not; if there is none, since they
 * contradict each other, the prior stays.
 */
export function afterMeasuring(prior: MachineBelief, measured: readonly MeasuredParts[]): MachineBelief {
  const limit = surprising(measured.length);
  const points = prior.points + measured.length;
  let usual: MachineBelief | undefined;
  for (const pace of paces) {
    const { belief, surprise } = filtered(atPace(prior, pace), measured);
    if (surprise <= limit) return { ...belief, points };
    usual ??= belief;
  }
  return { ...usual!, points };
}

const atPace = ({ covariance, ...prior }: MachineBelief, pace: number): MachineBelief => ({
  ...prior,
  covariance: map3((row) => map((at) => covariance[row][at] + pace ** 2)),
});

/** The chi-squared that so many measurements exceed one time in a thousand (Wilson and Hilferty). */
function surprising(measurements: number): number {
  const variance = 2 / (9 * Math.max(1, measurements));
  return Math.max(1, measurements) * (1 - variance + 3.09 * Math.sqrt(variance)) ** 3;
}

function filtered(
  prior: MachineBelief,
  measured: readonly MeasuredParts[],
): { readonly belief: MachineBelief; readonly surprise: number } {
  let around = prior.logFactors;
  let found = { belief: prior, surprise: 0 };
  for (let pass = 0; pass < passes; pass += 1) {
    found = { belief: prior, surprise: 0 };
    for (const one of measured) {
      const { belief, surprise } = updated(found.belief, one, around);
      found = { belief, surprise: found.surprise + surprise };
    }
    const before = around;
    const { logFactors } = found.belief;
    around = map((at) => before[at] + Math.max(-farthestStep, Math.min(farthestStep, logFactors[at] - before[at])));
  }
  return found;
}

/** A measurement later: what is known, and how far it was from what was expected, in squares of its standard deviation. */
function updated(
  { logFactors, covariance, points }: MachineBelief,
  { parts: of, measuredSeconds }: MeasuredParts,
  around: Vector,
): { readonly belief: MachineBelief; readonly surprise: number } {
  const { log, shares } = predicted(of, around);
  const expected = log + dot(shares, logFactors) - dot(shares, around);
  const toward = map((at) => dot(covariance[at], shares));
  const variance = dot(shares, toward) + machinePrior.load ** 2;
  const off = Math.log(measuredSeconds) - expected;
  return {
    belief: {
      logFactors: map((at) => logFactors[at] + (toward[at] * off) / variance),
      covariance: map3((row) => map((at) => covariance[row][at] - (toward[row] * toward[at]) / variance)),
      points,
    },
    surprise: off ** 2 / variance,
  };
}

/** Returns the median of a duration, and the standard deviation of its logarithm at one load. */
export function durationOf(belief: MachineBelief, of: SecondsByPart): { seconds: number; logDeviation: number } {
  const { log, shares } = predicted(of, belief.logFactors);
  const variance = dot(
    shares,
    map((at) => dot(belief.covariance[at], shares)),
  );
  return { seconds: Math.exp(log), logDeviation: Math.sqrt(variance + machinePrior.load ** 2) };
}

/** Returns what is known after measured points of an engine with these costs. */
export const beliefFrom = (cost: CostModel, points: readonly DecodePoint[], prior: MachineBelief): MachineBelief =>
  afterMeasuring(
    prior,
    points.map((point) => ({ parts: partsOf(cost, point), measuredSeconds: point.secondsPerToken })),
  );

/** Returns the factors of a belief. */
export const factorsOf = ({ logFactors }: MachineBelief): MachineFactors => ({
  fixed: Math.exp(logFactors[0]),
  sequence: Math.exp(logFactors[1]),
  prefill: Math.exp(logFactors[2]),
});

/** Returns costs with parts that are slower by factors. */
export function slowedBy(cost: CostModel, { fixed, sequence, prefill }: MachineFactors): CostModel {
  return {
    ...cost,
    memoryBoundSeconds: cost.memoryBoundSeconds * fixed,
    expertSeconds: cost.expertSeconds * fixed,
    computeSecondsPerSequence: cost.computeSecondsPerSequence * fixed,
    overheadSeconds: cost.overheadSeconds * fixed,
    secondsPerSequence: cost.secondsPerSequence * sequence,
    secondsPerContextToken: cost.secondsPerContextToken * sequence,
    prefillSecondsPerToken: cost.prefillSecondsPerToken * prefill,
    prefillSecondsPerSquaredToken: cost.prefillSecondsPerSquaredToken * prefill,
  };
}

/** Returns the job with changed costs at every tensor parallelism. */
export function withEachCost(job: Job, change: (cost: CostModel) => CostModel): Job {
  const { hardware } = job;
  const cost = change(job.cost);
  if (hardware === undefined) return { ...job, cost };
  const costs = hardware.costs.map(({ tp, cost: one }) => ({ tp, cost: change(one) }));
  return { ...job, cost, hardware: { ...hardware, costs } };
}

/** Returns the job on engines that are slower by factors, at every tensor parallelism. */
export const jobSlowedBy = (job: Job, factors: MachineFactors): Job =>
  withEachCost(job, (cost) => slowedBy(cost, factors));

/**
 * Returns machines that stand for a belief: the three columns of the Cholesky factor of its covariance, each one standard deviation
 * away, to tell how an answer changes with the machine.
 */
export function deviationsOf({ logFactors, covariance: [a, b, c] }: MachineBelief): MachineFactors[] {
  const l00 = Math.sqrt(Math.max(0, a[0]));
  const [l10, l20] = l00 === 0 ? [0, 0] : [b[0] / l00, c[0] / l00];
  const l11 = Math.sqrt(Math.max(0, b[1] - l10 * l10));
  const l21 = l11 === 0 ? 0 : (c[1] - l20 * l10) / l11;
  const l22 = Math.sqrt(Math.max(0, c[2] - l20 * l20 - l21 * l21));
  const columns: Vector[] = [
    [l00, l10, l20],
    [0, l11, l21],
    [0, 0, l22],
  ];
  return columns.map((column) => ({
    fixed: Math.exp(logFactors[0] + column[0]),
    sequence: Math.exp(logFactors[1] + column[1]),
    prefill: Math.exp(logFactors[2] + column[2]),
  }));
}
