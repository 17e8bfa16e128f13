/**
 * Fits the constants of the time model: least squares of the logarithms of predicted ÷ measured, with a loss that grows linearly for
 * large errors (TPOT) and hardly at all (TTFT, whose outliers are settings of servers that no file records). Configurations with
 * many runs count by the root of their number.
 */
import { mean } from 'simple-statistics';
import { engineNames, type SiliconConstants, siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { predicted } from './errors.ts';
import { leastSquares } from './least-squares.ts';
import { configurationOf, groupedBy, type Point } from './points.ts';

type Scalar = Exclude<keyof SiliconConstants, 'firstToken'>;

/** Bounds of each constant: what is physically possible, and what kernels are known to reach. */
const bounds: Readonly<Record<Scalar, readonly [low: number, high: number]>> = {
  weightBandwidth: [0.5, 0.92],
  kvBandwidth: [0.3, 0.92],
  decodeCompute: [0.3, 0.8],
  prefillCompute: [0.2, 0.85],
  prefillAttention: [0.03, 0.6],
  linkBandwidth: [0.05, 1],
  interference: [0.2, 1],
  layerSeconds: [1e-6, 200e-6],
  expertLayerSeconds: [1e-6, 200e-6],
  latentLayerSeconds: [1e-6, 200e-6],
  blackwellLaunches: [0.2, 1.5],
  sequenceSeconds: [0.1e-6, 100e-6],
  allReduceSeconds: [0.1e-6, 30e-6],
};
const firstTokenBounds = { seconds: [0.001, 0.6], steps: [0.05, 40], queue: [0.001, 1] } as const;

const scalars = Object.keys(bounds) as Scalar[];
const firsts = engineNames.flatMap((engine) =>
  (Object.keys(firstTokenBounds) as (keyof typeof firstTokenBounds)[]).map((name) => ({ engine, name })),
);
const limits = [...scalars.map((one) => bounds[one]), ...firsts.map(({ name }) => firstTokenBounds[name])].map(
  ([low, high]) => [Math.log(low), Math.log(high)] as const,
);

const valuesOf = (constants: SiliconConstants): number[] => [
  ...scalars.map((one) => constants[one]),
  ...firsts.map(({ engine, name }) => constants.firstToken[engine][name]),
];

function constantsOf(logs: readonly number[]): SiliconConstants {
  const values = logs.map(Math.exp);
  const firstToken = Object.fromEntries(engineNames.map((engine) => [engine, {}])) as Record<
    string,
    Record<string, number>
  >;
  for (const [index, { engine, name }] of firsts.entries()) firstToken[engine]![name] = values[scalars.length + index]!;
  const named = Object.fromEntries(scalars.map((one, index) => [one, values[index]!]));
  return { ...named, firstToken } as unknown as SiliconConstants;
}

const tpotScale = 0.12;
const ttftScale = 0.2;
const ttftWeight = 0.8;
/** How much the engines are held alike: few configurations of each are measured, and one would learn their flags. */
const enginesAlike = 0.1;

/** The root of a loss that is quadratic near 0 and linear far away. */
const linearRoot = (residual: number, scale: number): number =>
  Math.sign(residual) * scale * Math.sqrt(2 * (Math.sqrt(1 + (residual / scale) ** 2) - 1));
/** The root of a loss that is quadratic near 0 and logarithmic far away. */
const logarithmicRoot = (residual: number, scale: number): number =>
  Math.sign(residual) * scale * Math.sqrt(Math.log1p((residual / scale) ** 2));

/** What is made small, as a function of the logarithms of the constants. */
function residualsOf(points: readonly Point[]): (logs: readonly number[]) => number[] {
  const runs = groupedBy(points, configurationOf);
  const weights = points.map((point) => runs.get(configurationOf(point))!.length ** -0.25);
  return (logs) => {
    const constants = constantsOf(logs);
    const likeOthers = firsts.map(({ name }, index) => {
      const same = firsts.flatMap((one, at) => (one.name === name ? [logs[scalars.length + at]!] : []));
      return enginesAlike * (logs[scalars.length + index]! - mean(same));
    });
    const errors = points.flatMap((point, index) => {
      const { tpotSeconds, ttftSeconds } = predicted(point, constants);
      const weight = weights[index]!;
      const of = (ours: number, measured: number | undefined) => Math.log(ours / (measured ?? ours));
      return [
        weight * linearRoot(of(tpotSeconds, point.tpotSeconds), tpotScale),
        weight * ttftWeight * logarithmicRoot(of(ttftSeconds, point.ttftSeconds), ttftScale),
      ];
    });
    return [...errors, ...likeOthers];
  };
}

const logsOf = (constants: SiliconConstants): number[] => valuesOf(constants).map(Math.log);

/** Returns the constants that fit the runs best, from a start. */
export const fitted = (points: readonly Point[], start: SiliconConstants = siliconConstants): SiliconConstants =>
  constantsOf(leastSquares(residualsOf(points), logsOf(start), limits));

/** Returns the sum of squares that the fit makes small. */
export const lossOf = (points: readonly Point[], constants: SiliconConstants): number =>
  residualsOf(points)(logsOf(constants)).reduce((sum, one) => sum + one * one, 0);

/** The constants half way between their bounds, as logarithms: a start that knows nothing. */
export const middleOfBounds = (): SiliconConstants => constantsOf(limits.map(([low, high]) => (low + high) / 2));

/** The constants by name, in one list. */
export function namedValues(constants: SiliconConstants): Record<string, number> {
  const names = [...scalars, ...firsts.map(({ engine, name }) => `firstToken.${engine}.${name}`)];
  return Object.fromEntries(valuesOf(constants).map((value, index) => [names[index]!, value]));
}

/** Constants that lie on a bound: the runs alone would move them further. */
export const onBound = (constants: SiliconConstants): string[] =>
  Object.entries(namedValues(constants)).flatMap(([name, value], index) =>
    limits[index]!.some((limit) => Math.abs(Math.log(value) - limit) < 1e-3) ? [name] : [],
  );

/** Bounds of a constant. */
export function boundsOf(name: string): readonly [low: number, high: number] {
  const index = Object.keys(namedValues(siliconConstants)).indexOf(name);
  const [low, high] = limits[index]!;
  return [Math.exp(low), Math.exp(high)];
}
