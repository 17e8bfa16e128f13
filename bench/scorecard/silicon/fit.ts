/**
 * Fits the constants of the time model: least squares of the logarithms of predicted ÷ measured, with a loss that grows linearly for
 * large errors (TPOT) and hardly at all (TTFT, whose outliers are settings of servers that no file records). Configurations with
 * many runs count by the root of their number.
 */
import { engineNames, type SiliconConstants, siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { predicted } from './errors.ts';
import { leastSquares } from './least-squares.ts';
import { configurationOf, type Point } from './points.ts';

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

/** Returns the constants that fit the runs best, from a start. */
export function fitted(points: readonly Point[], start: SiliconConstants = siliconConstants): SiliconConstants {
  const runs = new Map<string, number>();
  for (const point of points) {
    const name = configurationOf(point);
    runs.set(name, (runs.get(name) ?? 0) + 1);
  }
  const weights = points.map((point) => runs.get(configurationOf(point))! ** -0.25);
  const residuals = (logs: readonly number[]): number[] => {
    const constants = constantsOf(logs);
    const likeOthers = firsts.map(({ name }, index) => {
      const same = firsts.flatMap((one, at) => (one.name === name ? [logs[scalars.length + at]!] : []));
      return enginesAlike * (logs[scalars.length + index]! - same.reduce((sum, one) => sum + one, 0) / same.length);
    });
    const errors = points.flatMap((point, index) => {
      const { tpotSeconds, ttftSeconds } = predicted(point, constants);
      const weight = weights[index]!;
      return [
        weight * linearRoot(Math.log(tpotSeconds / point.tpotSeconds), tpotScale),
        weight * ttftWeight * logarithmicRoot(Math.log(ttftSeconds / point.ttftSeconds), ttftScale),
      ];
    });
    return [...errors, ...likeOthers];
  };
  return constantsOf(leastSquares(residuals, valuesOf(start).map(Math.log), limits));
}
