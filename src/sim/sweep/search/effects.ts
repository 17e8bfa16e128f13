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

/**
 * Returns a function that predicts the value for effects; those that no measurement has are taken as 0.
 *
 * @param stiffness - variance of a measurement ÷ that of the sizes of an effect before anything is measured, > 0, by its name: an
 * effect of stiffness n is halved if n measurements show it
 */
export function fitted(
  measurements: readonly Measurement[],
  stiffness: (name: string) => number,
): (effects: Effects) => number {
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
  const sizes = solved(normal, right);
  return (effects) => {
    let sum = 0;
    for (const [name, factor] of effects) sum += factor * (sizes[at.get(name) ?? -1] ?? 0);
    return sum;
  };
}

/** Solves a system with a symmetric and positive definite matrix, by its Cholesky factor. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
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
  const forward: number[] = [];
  for (const [row, values] of lower.entries()) {
    let rest = right[row]!;
    for (let k = 0; k < row; k += 1) rest -= values[k]! * forward[k]!;
    forward.push(rest / values[row]!);
  }
  const found = forward.map(() => 0);
  for (let row = found.length - 1; row >= 0; row -= 1) {
    let rest = forward[row]!;
    for (let k = row + 1; k < found.length; k += 1) rest -= lower[k]![row]! * found[k]!;
    found[row] = rest / lower[row]![row]!;
  }
  return found;
}
