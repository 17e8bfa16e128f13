/** Levenberg and Marquardt's least squares within bounds: a step that makes it worse is taken back, and a shorter one tried. */
import { Matrix, solve } from 'ml-matrix';

const step = 1e-4;
const mostIterations = 200;
/** Relative gain of an iteration below which the fit has ended. */
const enough = 1e-9;

/**
 * Returns the parameters with the least sum of squared residuals that is found from a start.
 *
 * @param bounds - lowest and highest value of each parameter
 */
export function leastSquares(
  residuals: (parameters: readonly number[]) => readonly number[],
  start: readonly number[],
  bounds: readonly (readonly [low: number, high: number])[],
): number[] {
  const within = (parameters: readonly number[]): number[] =>
    parameters.map((one, index) => Math.min(bounds[index]![1], Math.max(bounds[index]![0], one)));
  const sumOf = (list: readonly number[]): number => list.reduce((sum, one) => sum + one * one, 0);
  let parameters = within(start);
  let values = residuals(parameters);
  let sum = sumOf(values);
  let damping = 1e-2;
  for (let iteration = 0; iteration < mostIterations && damping < 1e10; iteration += 1) {
    const slopes = parameters.map((one, index) => {
      // At its upper bound, a parameter is moved downwards.
      const by = one + step > bounds[index]![1] ? -step : step;
      const moved = residuals(parameters.with(index, one + by));
      return moved.map((value, at) => (value - values[at]!) / by);
    });
    const gradient = slopes.map((slope) => slope.reduce((total, one, at) => total + one * values[at]!, 0));
    const normal = slopes.map((a) => slopes.map((b) => a.reduce((total, one, at) => total + one * b[at]!, 0)));
    const free = parameters.map((one, index) => {
      const [low, high] = bounds[index]!;
      return !(one <= low && gradient[index]! > 0) && !(one >= high && gradient[index]! < 0);
    });
    let isBetter = false;
    while (!isBetter && damping < 1e10) {
      const matrix = normal.map((row, i) =>
        row.map((one, j) => {
          if (!free[i] || !free[j]) return i === j ? 1 : 0;
          return i === j ? one * (1 + damping) + 1e-12 : one;
        }),
      );
      const moves = solve(new Matrix(matrix), Matrix.columnVector(gradient.map((one, i) => (free[i] ? one : 0))));
      const tried = within(parameters.map((one, index) => one - moves.get(index, 0)));
      const triedValues = residuals(tried);
      const triedSum = sumOf(triedValues);
      if (!(triedSum < sum)) {
        damping *= 5;
        continue;
      }
      isBetter = true;
      if (sum - triedSum < enough * sum) return tried;
      [parameters, values, sum] = [tried, triedValues, triedSum];
      damping = Math.max(1e-9, damping / 5);
    }
  }
  return parameters;
}
