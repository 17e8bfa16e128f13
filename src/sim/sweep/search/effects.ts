/**
 * Fits a sum of effects to noisy measurements (ridge regression): what settings, seeds and the candidates themselves add to a
 * number. All measurements inform the effects that they share, so that few and noisy runs show where the best settings lie.
 */

/** Effects in a measurement: by name, the number that its size is multiplied by. */
export type Effects = ReadonlyMap<string, number>;

/** A measurement. */
export interface Measurement {
  readonly effects: Effects;
  readonly value: number;
}

/** A prediction. */
export interface Prediction {
  readonly value: number;
  /** Its standard deviation. */
  readonly error: number;
}

/** Options of a fit. */
export interface FitOptions {
  /**
   * Returns the variance of a measurement ÷ that of the sizes of an effect before anything is measured, > 0: an effect of stiffness n
   * is halved if n measurements show it.
   */
  readonly stiffness: (effect: string) => number;
  /** Whether only one of the things that are compared has the effect. */
  readonly isOwn: (effect: string) => boolean;
}

/** Returns a function that predicts the value for effects. */
export function fitted(
  measurements: readonly Measurement[],
  { stiffness, isOwn }: FitOptions,
): (effects: Effects) => Prediction {
  const names = [...new Set(measurements.flatMap(({ effects }) => [...effects.keys()]))];
  const at = new Map(names.map((name, index) => [name, index]));
  const normal = names.map((name, row) => names.map((_, column) => (row === column ? stiffness(name) : 0)));
  const right = names.map(() => 0);
  for (const { effects, value } of measurements) {
    for (const [name, size] of effects) {
      const row = at.get(name)!;
      right[row]! += size * value;
      for (const [other, factor] of effects) normal[row]![at.get(other)!]! += size * factor;
    }
  }
  const lower = choleskyOf(normal);
  const sizes = backward(lower, forward(lower, right));
  const summed = (effects: Iterable<readonly [string, number]>): number =>
    [...effects].reduce((sum, [name, factor]) => sum + factor * (sizes[at.get(name) ?? -1] ?? 0), 0);
  const squares = measurements.reduce(
    (sum, { effects, value }) => sum + (value - summed([...effects].filter(([name]) => !isOwn(name)))) ** 2,
    0,
  );
  const shared = names.filter((name) => !isOwn(name)).length;
  const variance = squares / Math.max(1, measurements.length - shared);
  return (effects) => {
    const known = names.map((name) => effects.get(name) ?? 0);
    const unknown = [...effects].filter(([name]) => !at.has(name));
    const share =
      forward(lower, known).reduce((sum, one) => sum + one * one, 0) +
      unknown.reduce((sum, [name, factor]) => sum + (factor * factor) / stiffness(name), 0);
    return { value: summed(effects), error: Math.sqrt(variance * share) };
  };
}

/** Returns the Cholesky factor of a symmetric and positive definite matrix. */
function choleskyOf(matrix: readonly (readonly number[])[]): number[][] {
  const lower: number[][] = [];
  for (const [row, values] of matrix.entries()) {
    const made: number[] = [];
    for (let column = 0; column <= row; column += 1) {
      const other = column === row ? made : lower[column]!;
      let rest = values[column]!;
      for (let k = 0; k < column; k += 1) rest -= made[k]! * other[k]!;
      made.push(column === row ? Math.sqrt(rest) : rest / other[column]!);
    }
    lower.push(made);
  }
  return lower;
}

/** Solves L x = right. */
function forward(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const found: number[] = [];
  for (const [row, values] of lower.entries()) {
    let rest = right[row]!;
    for (let k = 0; k < row; k += 1) rest -= values[k]! * found[k]!;
    found.push(rest / values[row]!);
  }
  return found;
}

/** Solves the transpose of L: L' x = right. */
function backward(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const found = right.map(() => 0);
  for (let row = found.length - 1; row >= 0; row -= 1) {
    let rest = right[row]!;
    for (let k = row + 1; k < found.length; k += 1) rest -= lower[k]![row]! * found[k]!;
    found[row] = rest / lower[row]![row]!;
  }
  return found;
}
