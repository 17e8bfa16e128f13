/** Mixed-integer linear programs for the oracles of the tests, solved to optimality by HiGHS. */
import loadHighs, { type Highs } from 'highs';

/** lower ≤ Σ value · column ≤ upper; an absent bound is none. */
interface Row {
  readonly lower?: number;
  readonly upper?: number;
  /** No column twice. */
  readonly terms: readonly (readonly [column: number, value: number])[];
}

/** A program that minimises the sum of cost · column over columns of 0 or 1, and others that are >= 0. */
export class Milp {
  readonly #cost: number[] = [];
  readonly #binary: boolean[] = [];
  readonly #rows: Row[] = [];

  /** Adds a column that is 0 or 1; returns its number. */
  binary(cost = 0): number {
    this.#binary.push(true);
    return this.#cost.push(cost) - 1;
  }

  /** Adds a column that is any number >= 0; returns its number. */
  continuous(cost = 0): number {
    this.#binary.push(false);
    return this.#cost.push(cost) - 1;
  }

  /** Adds a constraint. */
  row(row: Row): void {
    this.#rows.push(row);
  }

  /**
   * The values of the columns of an optimal solution; nothing if no solution exists. Tolerances of the solver are
   * absolute: numbers should be about 1.
   */
  solve(highs: Highs): Float64Array | undefined {
    const [numCols, numRows] = [this.#cost.length, this.#rows.length];
    if (numCols === 0) {
      // HiGHS calls such a program empty, whatever its rows ask for.
      return this.#rows.every(({ lower = 0, upper = 0 }) => lower <= 0 && upper >= 0) ? new Float64Array(0) : undefined;
    }
    const starts = [0];
    const indices: number[] = [];
    const values: number[] = [];
    for (const { terms } of this.#rows) {
      for (const [column, value] of terms) {
        indices.push(column);
        values.push(value);
      }
      starts.push(indices.length);
    }
    const data = {
      numCols,
      numRows,
      colCost: this.#cost,
      colLower: new Float64Array(numCols),
      colUpper: this.#binary.map((isBinary) => (isBinary ? 1 : highs.infinity)),
      rowLower: this.#rows.map(({ lower }) => lower ?? -highs.infinity),
      rowUpper: this.#rows.map(({ upper }) => upper ?? highs.infinity),
      matrix: { format: 'csr', numRows, numCols, starts, indices, values },
      integrality: Int32Array.from(this.#binary, Number),
    } as const;
    return highs.withModel(data, (model) => {
      model.options.set({
        output_flag: false,
        mip_rel_gap: 0,
        mip_abs_gap: 1e-10,
        mip_feasibility_tolerance: 1e-9,
        primal_feasibility_tolerance: 1e-9,
        dual_feasibility_tolerance: 1e-9,
      });
      model.run();
      const status = model.getModelStatus();
      const { optimal, infeasible } = highs.constants.modelStatus;
      if (status === infeasible) return undefined;
      if (status !== optimal) throw new Error(`HiGHS ended with status ${status}`);
      return model.getSolution().colValue;
    });
  }
}

/** The solver; it is loaded once. */
export const solver: Promise<Highs> = loadHighs();
